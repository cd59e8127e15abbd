//! The `Gateways` trait.

pub(crate) mod account_gateways;
pub(crate) mod attachments;
pub(crate) mod claims;
pub(crate) mod feeds;
pub(crate) mod gateway_changes;
pub(crate) mod gateway_polls;
pub(crate) mod gateway_reports;
pub(crate) mod heard;
pub(crate) mod messages;
pub(crate) mod raw_usage;
pub(crate) mod requests;

use std::sync::Arc;

use async_trait::async_trait;
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
use perigee_core::gateways::raw_usage::RawUsage;
use perigee_core::id::{AccountId, DeviceId, MessageId};
use perigee_core::locations::location::TimeRange;
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::{Gateways, Result};

use super::locations::state_row::{self, StateRow};
use super::locations::{self, Submission};
use crate::sql::{alerts::alert_search, alerts::sos_notices, devices};
use crate::{Database, Tx};

/// Writes what a device that was just heard told. It may have been deleted meanwhile.
async fn set_told(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
    change: impl FnOnce(&mut StateRow) + Send,
) -> Result<()> {
    tx.keep_device_cache_valid();
    let Some(mut state) = state_row::lock(tx, account, device).await? else { return Ok(()) };
    state.last_seen = state.last_seen.or(Some(tx.now()));
    change(&mut state);
    state.save(tx).await
}

async fn has_one_account(tx: &Tx) -> Result<bool> {
    Ok(tx.query("SELECT id FROM account LIMIT 2", &[]).await?.len() == 1)
}

#[async_trait]
impl Gateways for Database {
    async fn find_claimed_device(
        &self,
        identifiers: &[String],
        counted: CountedClaims,
    ) -> Result<Option<Reporter>> {
        let identifiers = identifiers.to_vec();
        self.read(move |tx| async move { devices::find_claimed(tx, &identifiers, counted).await }.boxed())
            .await
    }

    async fn store_message(
        &self,
        reporter: &Reporter,
        message: NewMessage,
        contents: MessageContents,
    ) -> Result<StoredMessage> {
        let is_unparsable = message.error.is_some();
        let duplicate_rule = message.duplicate_rule;
        let submission = Submission::of(reporter, contents, duplicate_rule).with_message(message);
        match locations::submit(self, submission).await {
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

    async fn store_request(&self, request: NewRequest) -> Result<Vec<Result<StoredContents>>> {
        requests::store(self, request).await
    }

    async fn set_protocol(&self, reporter: &Reporter, protocol: &'static str) -> Result<()> {
        let (account, device) = (reporter.scope.account, reporter.device);
        let change = move |state: &mut StateRow| state.protocol = Some(protocol.to_owned());
        self.write(move |tx| set_told(tx, (account, device), change).boxed()).await
    }

    async fn set_reported_model(&self, reporter: &Reporter, model: &str) -> Result<()> {
        let key = (reporter.scope.account, reporter.device);
        let model = model.to_owned();
        let change = move |state: &mut StateRow| state.reported_model = Some(model);
        self.write(move |tx| set_told(tx, key, change).boxed()).await
    }

    async fn set_proposed_zone(&self, reporter: &Reporter, minutes: Option<i32>) -> Result<()> {
        let key = (reporter.scope.account, reporter.device);
        let change = move |state: &mut StateRow| state.proposed_zone_minutes = minutes.map(i64::from);
        self.write(move |tx| set_told(tx, key, change).boxed()).await
    }

    async fn list_messages(
        &self,
        scope: Scope,
        filter: &MessageFilter,
        page: PageRequest,
    ) -> Result<Page<RawMessage>> {
        let filter = filter.clone();
        self.read_snapshot(move |tx| messages::list(tx, scope, filter, page).boxed()).await
    }

    async fn save_heard(&self, reports: Vec<HeardReport>) -> Result<()> {
        self.write(move |tx| async move { heard::save(tx, &reports).await }.boxed()).await
    }

    async fn announce_sos(&self, account: Option<AccountId>, notice: SosNotice) -> Result<bool> {
        self.write(move |tx| {
            async move {
                match account {
                    Some(account) => sos_notices::announce(tx, account, None, &notice).await,
                    None => sos_notices::announce_to_operators(tx, &notice).await,
                }
            }
            .boxed()
        })
        .await
    }

    async fn list_heard(&self, account: Option<AccountId>) -> Result<Vec<HeardDevice>> {
        self.read(move |tx| heard::list(tx, account).boxed()).await
    }

    async fn take_claimed(
        &self,
        limit: u32,
        counted: CountedClaims,
    ) -> Result<Vec<(Reporter, Vec<HeardMessage>)>> {
        // Most often there is none, which a read finds out without the writer.
        if self.read(move |tx| heard::claimed(tx, 1, counted).boxed()).await?.is_empty() {
            return Ok(Vec::new());
        }
        self.write(move |tx| heard::take_claimed(tx, limit, counted).boxed()).await
    }

    async fn has_one_account(&self) -> Result<bool> {
        self.read(|tx| has_one_account(tx).boxed()).await
    }

    async fn find_message_device(&self, message: &RawMessage) -> Result<Option<Reporter>> {
        let (account, device) = (message.account, message.device);
        let identifiers: Vec<String> = message.identifier.iter().cloned().collect();
        self.read(move |tx| {
            async move { devices::find_in_account(tx, account, device, &identifiers).await }.boxed()
        })
        .await
    }

    async fn set_message_result(&self, message: &RawMessage) -> Result<bool> {
        let message = message.clone();
        self.write(move |tx| async move { messages::set_result(tx, &message).await }.boxed()).await
    }

    async fn next_searched_messages(&self) -> Result<Option<SearchedMessages>> {
        self.read_low_priority(|tx| alert_search::next(tx).boxed()).await
    }

    async fn finish_searched_messages(&self, searched: &SearchedMessages) -> Result<()> {
        let SearchedMessages { account, after, to, .. } = *searched;
        self.write(move |tx| alert_search::finish(tx, account, after, to).boxed()).await
    }

    async fn has_alert_within(&self, reporter: &Reporter, name: &str, range: TimeRange) -> Result<bool> {
        let (key, name) = ((reporter.scope.account, reporter.device), name.to_owned());
        self.read(move |tx| async move { alert_search::has_alert(tx, key, &name, range).await }.boxed()).await
    }

    async fn save_raw_usage(&self, usage: Vec<RawUsage>) -> Result<()> {
        let usage = Arc::new(usage);
        self.write(move |tx| {
            let usage = Arc::clone(&usage);
            async move { raw_usage::add(tx, &usage).await }.boxed()
        })
        .await
    }

    async fn list_raw_usage(&self) -> Result<Vec<RawUsage>> {
        self.read(|tx| raw_usage::list(tx).boxed()).await
    }

    async fn find_message_size(&self, scope: Scope, id: MessageId) -> Result<Option<u32>> {
        self.read(move |tx| messages::size(tx, scope, id).boxed()).await
    }

    async fn find_message(&self, scope: Scope, id: MessageId) -> Result<Option<RawMessage>> {
        self.read(move |tx| messages::find(tx, scope, id).boxed()).await
    }
}
