//! The `Gateways` trait.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::actor::Scope;
use perigee_core::claim::CountedClaims;
use perigee_core::error::StoreError;
use perigee_core::gateway::{
    HeardDevice, HeardMessage, HeardReport, MessageFilter, MessageResult, NewMessage, RawMessage, Reporter,
};
use perigee_core::id::{AccountId, DeviceId, MessageId};
use perigee_core::message_contents::{MessageContents, NewRequest, StoredContents, StoredMessage};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::{Gateways, Result};

use super::locations::{self, Submission};
use super::{devices, heard, messages, requests};
use crate::{Database, Tx, Value, params};

/// Writes what a device that was just heard told, into a column of this type. It may have been deleted meanwhile.
async fn set_told(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
    (column, kind): (&'static str, &'static str),
    value: Value,
) -> Result<()> {
    tx.keep_device_cache_valid();
    let sql = format!(
        "INSERT INTO device_live (account_id, device_id, last_seen, {column}) \
         SELECT account_id, id, CAST(?4 AS BIGINT), CAST(?3 AS {kind}) FROM device WHERE account_id = ?1 AND id = ?2 \
         ON CONFLICT (account_id, device_id) DO UPDATE SET {column} = excluded.{column}"
    );
    tx.execute(&sql, params![account, device, value, tx.now()]).await?;
    Ok(())
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
        let column = ("protocol", "TEXT");
        self.write(move |tx| set_told(tx, (account, device), column, Value::from(protocol)).boxed()).await
    }

    async fn set_reported_model(&self, reporter: &Reporter, model: &str) -> Result<()> {
        let key = (reporter.scope.account, reporter.device);
        let model = Value::from(model);
        self.write(move |tx| set_told(tx, key, ("reported_model", "TEXT"), model.clone()).boxed()).await
    }

    async fn set_proposed_zone(&self, reporter: &Reporter, minutes: Option<i32>) -> Result<()> {
        let key = (reporter.scope.account, reporter.device);
        let minutes = Value::from(minutes.map(i64::from));
        self.write(move |tx| set_told(tx, key, ("proposed_zone_minutes", "BIGINT"), minutes.clone()).boxed())
            .await
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

    async fn find_message(&self, scope: Scope, id: MessageId) -> Result<Option<RawMessage>> {
        self.read(move |tx| messages::find(tx, scope, id).boxed()).await
    }
}
