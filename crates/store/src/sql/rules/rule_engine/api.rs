//! The `RuleEngineStore` trait: what the rule engine needs from the store.

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
use crate::forward::forward;
use crate::sql::{locations::geofences, rules};
use crate::{Database, Tx, params};

async fn load_rules(tx: &Tx, account: AccountId) -> Result<(i64, Vec<Rule>, Vec<Geofence>)> {
    let sql = "SELECT rules_revision FROM rule_follower WHERE account_id = ?1";
    let row = tx.query_opt(sql, params![account]).await?;
    let revision = row.map(|row| row.i64("rules_revision")).transpose()?.unwrap_or(0);
    Ok((revision, rules::all(tx, account).await?, geofences::named(tx, account).await?))
}

async fn accounts_with_work(tx: &Tx) -> Result<Vec<AccountId>> {
    let read_scope = tx.log_watches().rules.read_scope(tx).await?;
    lease::accounts(tx, read_scope).await
}

async fn read_log(
    tx: &Tx,
    account: AccountId,
    part: (i64, i64),
    devices: Vec<DeviceId>,
) -> Result<Vec<(DeviceId, StoredLocation)>> {
    tx.log().read(tx, account, part, devices).await
}

async fn lease_account(
    database: &Database,
    account: AccountId,
    lease: AccountLease<'_>,
) -> Result<Option<RoundStart>> {
    let (owner, duration_ms) = (lease.owner.to_owned(), lease.duration_ms);
    let mine = database.read(move |tx| lease::find_own(tx, account, owner, duration_ms).boxed()).await?;
    if mine.is_some() {
        return Ok(mine);
    }
    let owner = lease.owner.to_owned();
    database.write(move |tx| lease::take(tx, account, owner, duration_ms).boxed()).await
}

async fn scan_log(
    database: &Database,
    account: AccountId,
    after: i64,
    limits: LogScanLimits,
) -> Result<LogScan> {
    database.read_log_snapshot(account, move |tx| tx.log().skim(tx, account, after, limits)).await
}

async fn finish_round(database: &Database, round: Round, lease: AccountLease<'_>) -> Result<bool> {
    let lease = (lease.owner.to_owned(), lease.duration_ms);
    // Serialising the state of 300 rules for 1,000 devices takes long, so it runs on a blocking thread.
    let work = move || finish::serialise(&round).map(|written| (round, written));
    let done = tokio::task::spawn_blocking(work).await;
    let (round, written) = done.map_err(|lost| StoreError::Internal(lost.into()))??;
    database.write(move |tx| finish::finish(tx, round, written, lease).boxed()).await
}

forward! {
    impl RuleEngineStore for Database {
        read accounts_with_work(&self) -> Vec<AccountId> = accounts_with_work;
        run lease_account(&self, account: AccountId, lease: AccountLease<'_>)
            -> Option<RoundStart> = lease_account;
        run scan_log(&self, account: AccountId, after: i64, limits: LogScanLimits) -> LogScan = scan_log;
        read_snapshot read_log(&self, account: AccountId, part: (i64, i64), &devices: [DeviceId])
            -> Vec<(DeviceId, StoredLocation)> = read_log;
        read_snapshot load_rules(&self, account: AccountId) -> (i64, Vec<Rule>, Vec<Geofence>) = load_rules;
        read load_trails(&self, account: AccountId, &devices: [DeviceId], depth: TrailDepth)
            -> Vec<DeviceTrail> = trail::load;
        read devices_due(&self, account: AccountId, limit: u32) -> Vec<DeviceId> = trail::due;
        read load_status_checks(&self, account: AccountId, &contacted: [DeviceId], limit: u32, with_trips: bool)
            -> Vec<StatusCheck> = watch::load;
        read list_device_ids(&self, account: AccountId, after: Option<DeviceId>, limit: u32)
            -> Vec<DeviceId> = trail::list;
        run finish_round(&self, round: Round, lease: AccountLease<'_>) -> bool = finish_round;
    }
}
