//! The `RuleEngineStore` trait: what the rule engine needs from the store.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::geofence::Geofence;
use perigee_core::locations::location::StoredLocation;
use perigee_core::rules::rule::Rule;
use perigee_core::store::{
    AccountLease, DeviceTrail, LogScan, LogScanLimits, Result, Round, RoundStart, RuleEngineStore,
    StatusCheck, TrailDepth,
};

use super::{finish, lease, trail, watch};
use crate::sql::{locations::geofences, rules};
use crate::{Database, Tx, params};

async fn load_rules(tx: &Tx, account: AccountId) -> Result<(i64, Vec<Rule>, Vec<Geofence>)> {
    let sql = "SELECT rules_revision FROM rule_follower WHERE account_id = ?1";
    let row = tx.query_opt(sql, params![account]).await?;
    let revision = row.map(|row| row.i64("rules_revision")).transpose()?.unwrap_or(0);
    Ok((revision, rules::all(tx, account).await?, geofences::named(tx, account).await?))
}

#[async_trait]
impl RuleEngineStore for Database {
    async fn accounts_with_work(&self) -> Result<Vec<AccountId>> {
        self.read(|tx| {
            async move {
                let look = tx.log_watches().rules.look(tx).await?;
                lease::accounts(tx, look).await
            }
            .boxed()
        })
        .await
    }

    async fn lease_account(&self, account: AccountId, lease: AccountLease<'_>) -> Result<Option<RoundStart>> {
        let (owner, duration_ms) = (lease.owner.to_owned(), lease.duration_ms);
        let mine = self.read(move |tx| lease::find_own(tx, account, owner, duration_ms).boxed()).await?;
        if mine.is_some() {
            return Ok(mine);
        }
        let owner = lease.owner.to_owned();
        self.write(move |tx| lease::take(tx, account, owner, duration_ms).boxed()).await
    }

    async fn scan_log(&self, account: AccountId, after: i64, limits: LogScanLimits) -> Result<LogScan> {
        self.read_log_snapshot(account, move |tx| tx.log().skim(tx, account, after, limits)).await
    }

    async fn read_log(
        &self,
        account: AccountId,
        part: (i64, i64),
        devices: &[DeviceId],
    ) -> Result<Vec<(DeviceId, StoredLocation)>> {
        let devices = devices.to_vec();
        self.read_snapshot(move |tx| tx.log().read(tx, account, part, devices)).await
    }

    async fn load_rules(&self, account: AccountId) -> Result<(i64, Vec<Rule>, Vec<Geofence>)> {
        self.read_snapshot(move |tx| load_rules(tx, account).boxed()).await
    }

    async fn load_trails(
        &self,
        account: AccountId,
        devices: &[DeviceId],
        depth: TrailDepth,
    ) -> Result<Vec<DeviceTrail>> {
        let devices = devices.to_vec();
        self.read(move |tx| trail::load(tx, account, devices, depth).boxed()).await
    }

    async fn devices_due(&self, account: AccountId, limit: u32) -> Result<Vec<DeviceId>> {
        self.read(move |tx| trail::due(tx, account, limit).boxed()).await
    }

    async fn load_status_checks(
        &self,
        account: AccountId,
        heard: &[DeviceId],
        limit: u32,
    ) -> Result<Vec<StatusCheck>> {
        let heard = heard.to_vec();
        self.read(move |tx| watch::load(tx, account, heard, limit).boxed()).await
    }

    async fn list_device_ids(
        &self,
        account: AccountId,
        after: Option<DeviceId>,
        limit: u32,
    ) -> Result<Vec<DeviceId>> {
        self.read(move |tx| trail::list(tx, account, after, limit).boxed()).await
    }

    async fn finish_round(&self, round: Round, lease: AccountLease<'_>) -> Result<bool> {
        let lease = (lease.owner.to_owned(), lease.duration_ms);
        // Serialising the state of 300 rules for 1,000 devices takes long, so it runs on a blocking thread.
        let work = move || finish::serialise(&round).map(|written| (round, written));
        let done = tokio::task::spawn_blocking(work).await;
        let (round, written) = done.map_err(|lost| StoreError::Internal(lost.into()))??;
        self.write(move |tx| finish::finish(tx, round, written, lease).boxed()).await
    }
}
