//! Raw messages, and the devices that send them: implements `Reporters`, `RawMessages` and `Emergencies` of the
//! store by SQL.

pub(crate) mod account_gateways;
pub(crate) mod attachments;
pub(crate) mod claims;
pub(crate) mod feeds;
pub(crate) mod gateway_changes;
pub(crate) mod gateway_polls;
pub(crate) mod gateway_reports;
pub(crate) mod heard;
mod message_devices;
pub(crate) mod messages;
pub(crate) mod networks;
pub(crate) mod raw_usage;
pub(crate) mod requests;

use futures_util::FutureExt as _;
use perigee_core::access::actor::Scope;
use perigee_core::alerts::sos_notice::SosNotice;
use perigee_core::error::StoreError;
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::{
    HeardDevice, HeardMessage, HeardReport, MessageFilter, MessageResult, NewMessage, RawMessage, Reporter,
};
use perigee_core::gateways::message_contents::{
    MessageContents, NewRequest, SearchedMessages, StoredContents, StoredMessage,
};
use perigee_core::gateways::raw_usage::{ListedUsage, RawUsage, StoredToday};
use perigee_core::id::{AccountId, MessageId};
use perigee_core::locations::location::TimeRange;
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::{Emergencies, RawMessages, Reporters, Result};

use super::locations::state_row::{self, StateRow};
use super::locations::{self, Submission};
use crate::forward::forward;
use crate::sql::{alerts::alert_search, alerts::sos_outbox, devices};
use crate::{Database, Tx};

/// Writes facts that a device reported about itself. Does nothing if the device was deleted in the meantime.
async fn set_reported(tx: &Tx, reporter: Reporter, change: impl FnOnce(&mut StateRow) + Send) -> Result<()> {
    let Some(mut state) = state_row::lock(tx, reporter.scope.account, reporter.device).await? else {
        return Ok(());
    };
    state.last_seen = state.last_seen.or(Some(tx.now()));
    change(&mut state);
    state.save(tx).await
}

async fn has_one_account(tx: &Tx) -> Result<bool> {
    Ok(tx.query("SELECT id FROM account LIMIT 2", &[]).await?.len() == 1)
}

async fn store_message(
    database: &Database,
    reporter: &Reporter,
    message: NewMessage,
    contents: MessageContents,
) -> Result<StoredMessage> {
    let is_unparsable = message.error.is_some();
    let duplicate_rule = message.duplicate_rule;
    let submission = Submission::of(reporter, contents, duplicate_rule).with_message(message);
    match locations::submit(database, submission).await {
        Ok(contents) => {
            let result = if is_unparsable { MessageResult::Unparsable } else { contents.result() };
            Ok(StoredMessage { result, contents })
        }
        Err(StoreError::DeviceExpired(_)) => {
            let contents = StoredContents::default();
            Ok(StoredMessage { result: MessageResult::ExpiredDevice, contents })
        }
        Err(error) => Err(error),
    }
}

async fn take_claimed(
    database: &Database,
    limit: u32,
    counted: CountedClaims,
) -> Result<Vec<(Reporter, Vec<HeardMessage>)>> {
    // Mostly no device was claimed, and a read finds that out without using the writer.
    if database.read(move |tx| heard::claimed(tx, 1, counted).boxed()).await?.is_empty() {
        return Ok(Vec::new());
    }
    database.write(move |tx| heard::take_claimed(tx, limit, counted).boxed()).await
}

forward! {
    impl Reporters for Database {
        read find_claimed_device(&self, &identifiers: [String], counted: CountedClaims)
            -> Option<Reporter> = devices::find_claimed(&identifiers, counted);
        read find_message_device(&self, message: &RawMessage)
            -> Option<Reporter> = devices::find_in_account(account, device, &identifiers)
            with account = message.account, device = message.device,
                identifiers = Vec::from_iter(message.identifier.clone());
        read has_one_account(&self) -> bool = has_one_account;
        write set_protocol(&self, &reporter: Reporter, protocol: &'static str)
            -> () = set_reported(reporter, |state| state.protocol = Some(protocol.to_owned()));
        write set_reported_model(&self, &reporter: Reporter, &model: str)
            -> () = set_reported(reporter, |state| state.reported_model = Some(model));
        write set_proposed_zone(&self, &reporter: Reporter, minutes: Option<i32>)
            -> () = set_reported(reporter, |state| state.proposed_zone_minutes = minutes.map(i64::from));
        write save_heard(&self, reports: Vec<HeardReport>) -> () = heard::save(&reports);
        read list_heard(&self, account: Option<AccountId>) -> Vec<HeardDevice> = heard::list;
        run take_claimed(&self, limit: u32, counted: CountedClaims)
            -> Vec<(Reporter, Vec<HeardMessage>)> = take_claimed;
    }
}

forward! {
    impl RawMessages for Database {
        run store_message(&self, &reporter: Reporter, message: NewMessage, contents: MessageContents)
            -> StoredMessage = store_message;
        run store_request(&self, request: NewRequest) -> Vec<Result<StoredContents>> = requests::store;
        read_snapshot list_messages(&self, scope: Scope, &filter: MessageFilter, page: PageRequest)
            -> Page<RawMessage> = messages::list;
        read find_message_size(&self, scope: Scope, id: MessageId) -> Option<u32> = messages::size;
        read find_message(&self, scope: Scope, id: MessageId) -> Option<RawMessage> = messages::find;
        write set_message_result(&self, &message: RawMessage) -> bool = messages::set_result(&message);
        write save_raw_usage(&self, usage: Vec<RawUsage>) -> Vec<StoredToday> = raw_usage::add(&usage);
        read list_raw_usage(&self) -> Vec<ListedUsage> = raw_usage::list;
    }
}

forward! {
    impl Emergencies for Database {
        write record_sos(&self, notice: SosNotice) -> () = sos_outbox::record(None, [notice]);
        run announce_recorded_sos(&self) -> u64 = sos_outbox::announce_all;
        read_low_priority next_searched_messages(&self) -> Option<SearchedMessages> = alert_search::next;
        write finish_searched_messages(&self, searched: &SearchedMessages)
            -> () = alert_search::finish(account, after, to)
            with account = searched.account, after = searched.after, to = searched.to;
        read has_alert_within(&self, &reporter: Reporter, &name: str, range: TimeRange)
            -> bool = alert_search::has_alert((reporter.scope.account, reporter.device), &name, range);
    }
}
