//! Overview reports: their settings, which report is due, and writing it to the outbox.

use std::collections::HashMap;

use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Scope};
use perigee_core::accounts::account::Account;
use perigee_core::alerts::severity::Severity;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, DeviceId, GroupId};
use perigee_core::notifications::overview::{
    DeviceCounts, Frequency, Overview, OverviewSettings, OverviewTask, Period, ReportedUntil, StoredOverview,
};
use perigee_core::revision::Revision;
use perigee_core::store::{Overviews, Result};

use crate::forward::forward;
use crate::sql::query::for_ids;
use crate::sql::{access::audit, accounts, column, notifications::outbox, scope};
use crate::{Database, Row, Tx, params};

const COLUMNS: &str = "account_id, revision, settings, told_to, told_until, last_modified";
/// Reports that are enabled and not claimed; a claim from a clock that was ahead does not count.
const UNCLAIMED: &str =
    "is_on = TRUE AND (claimed_until IS NULL OR claimed_until <= ?1 OR claimed_until > ?2)";

fn from_row(row: &Row) -> Result<StoredOverview> {
    let reported = (column::opt_parsed(row, "told_to")?, row.opt_timestamp("told_until")?);
    Ok(StoredOverview {
        revision: Revision(row.i64("revision")?),
        settings: column::json(row, "settings")?,
        mark: if let (Some(last), Some(ends)) = reported { Some(ReportedUntil { last, ends }) } else { None },
        last_modified: Some(row.timestamp("last_modified")?),
    })
}

async fn find(tx: &Tx, account: AccountId) -> Result<StoredOverview> {
    let sql = format!("SELECT {COLUMNS} FROM overview WHERE account_id = ?1");
    let row = tx.query_opt(&sql, params![account]).await?;
    row.as_ref().map_or_else(|| Ok(StoredOverview::unset()), from_row)
}

async fn replace(
    tx: &Tx,
    actor: Actor,
    seen: Revision,
    settings: OverviewSettings,
) -> Result<StoredOverview> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    let before = find(tx, account.id).await?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::Overview));
    }
    if before.settings == settings {
        return Ok(before);
    }
    let added: Vec<GroupId> = settings.groups.difference(&before.settings.groups).copied().collect();
    scope::require_groups(tx, actor.scope, &added).await?;
    let mark = mark_after_change(&account, &before, &settings, tx);
    let text = serde_json::to_string(&settings).map_err(|cause| StoreError::Internal(cause.into()))?;
    let revision = before.revision.next();
    let sql = "INSERT INTO overview (account_id, revision, settings, is_on, told_to, told_until, last_modified) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
               ON CONFLICT (account_id) DO UPDATE SET revision = excluded.revision, settings = excluded.settings, \
                   is_on = excluded.is_on, told_to = excluded.told_to, told_until = excluded.told_until, \
                   last_modified = excluded.last_modified";
    let is_on = settings.frequency != Frequency::Off;
    let (reported_to, reported_until) = (mark.map(|mark| mark.last.to_string()), mark.map(|mark| mark.ends));
    let values = params![account.id, revision.0, text, is_on, reported_to, reported_until, tx.now()];
    tx.execute(sql, values).await?;
    let target = Some(account.id.to_string());
    audit::record(tx, account.id, &actor.origin, "overviewReport.update", target).await?;
    Ok(StoredOverview { revision, settings, mark, last_modified: Some(tx.now()) })
}

/// The mark after a change of the settings. Switching reports on, or moving their time, does not report past periods;
/// a report that is already due stays due.
fn mark_after_change(
    account: &Account,
    before: &StoredOverview,
    settings: &OverviewSettings,
    tx: &Tx,
) -> Option<ReportedUntil> {
    let is_due = |mark| Period::due(&before.settings, account, mark, tx.now()).is_some();
    if before.mark.is_some_and(is_due) {
        return before.mark;
    }
    let reported = before.mark.filter(|mark| !mark.is_ahead(tx.now()));
    let latest = Period::latest(settings, account, tx.now()).map(|period| period.mark());
    reported.into_iter().chain(latest).max_by_key(|mark| mark.last)
}

/// The accounts with a report that is due, or with a mark from a wrong clock.
async fn candidates(tx: &Tx, lease_ms: i64) -> Result<Vec<AccountId>> {
    let sql = format!("SELECT {COLUMNS} FROM overview WHERE {UNCLAIMED} ORDER BY account_id");
    let mut wanted = HashMap::new();
    for row in tx.query(&sql, params![tx.now(), tx.now().plus_millis(lease_ms)]).await? {
        wanted.insert(row.i64("account_id")?, from_row(&row)?);
    }
    let ids: Vec<i64> = wanted.keys().copied().collect();
    let sql = format!("SELECT {} FROM account WHERE id IN ({{ids}})", accounts::COLUMNS);
    let mut found = Vec::new();
    for row in for_ids(tx, &sql, &[], &ids).await? {
        let account = accounts::from_row(&row)?;
        let Some(StoredOverview { settings, mark: Some(mark), .. }) = wanted.get(&account.id.as_i64()) else {
            continue;
        };
        if mark.is_ahead(tx.now()) || Period::due(settings, &account, *mark, tx.now()).is_some() {
            found.push(account.id);
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Claims an account's report, if it is still due and not claimed.
async fn claim(tx: &Tx, account: AccountId, lease_ms: i64) -> Result<Option<OverviewTask>> {
    let account = accounts::lock(tx, account).await?;
    let until = tx.now().plus_millis(lease_ms);
    let sql = format!("UPDATE overview SET claimed_until = ?2 WHERE account_id = ?3 AND {UNCLAIMED}");
    if tx.execute(&sql, params![tx.now(), until, account.id]).await? == 0 {
        return Ok(None);
    }
    let StoredOverview { settings, revision, mark, .. } = find(tx, account.id).await?;
    let Some(mark) = mark else { return Ok(None) };
    if mark.is_ahead(tx.now()) {
        let present = Period::latest(&settings, &account, tx.now()).map(|period| period.mark());
        set_mark(tx, account.id, present).await?;
        return Ok(None);
    }
    let period = Period::due(&settings, &account, mark, tx.now());
    Ok(period.map(|period| OverviewTask { account, settings, revision, period }))
}

/// Stores the end of the last reported period, and releases the claim.
async fn set_mark(tx: &Tx, account: AccountId, mark: Option<ReportedUntil>) -> Result<()> {
    let sql = "UPDATE overview SET told_to = ?2, told_until = ?3, claimed_until = NULL WHERE account_id = ?1";
    let (reported_to, reported_until) = (mark.map(|mark| mark.last.to_string()), mark.map(|mark| mark.ends));
    tx.execute(sql, params![account, reported_to, reported_until]).await?;
    Ok(())
}

async fn counts(
    tx: &Tx,
    account: AccountId,
    period: Period,
    devices: Vec<DeviceId>,
) -> Result<HashMap<DeviceId, DeviceCounts>> {
    let ids: Vec<i64> = devices.iter().map(|device| device.as_i64()).collect();
    let mut counts: HashMap<DeviceId, DeviceCounts> = HashMap::new();
    let sql = "SELECT device_id, COUNT(*) AS alerts, \
                   CAST(SUM(CASE WHEN severity >= ?4 THEN 1 ELSE 0 END) AS BIGINT) AS critical \
               FROM alert WHERE account_id = ?1 AND time >= ?2 AND time < ?3 AND device_id IN ({ids}) \
               GROUP BY device_id";
    let values = params![account, period.begins, period.ends, Severity::Critical.rank()];
    for row in for_ids(tx, sql, values, &ids).await? {
        let device = counts.entry(DeviceId::from_i64(row.i64("device_id")?)).or_default();
        (device.alerts, device.critical) = (row.int("alerts")?, row.int("critical")?);
    }
    let sql = "SELECT device_id, COUNT(*) AS suppressed FROM notification \
               WHERE account_id = ?1 AND state = 'suppressed' AND created >= ?2 AND created < ?3 \
                   AND device_id IN ({ids}) GROUP BY device_id";
    for row in for_ids(tx, sql, params![account, period.begins, period.ends], &ids).await? {
        counts.entry(DeviceId::from_i64(row.i64("device_id")?)).or_default().suppressed =
            row.int("suppressed")?;
    }
    Ok(counts)
}

async fn group_names(tx: &Tx, account: AccountId, groups: Vec<GroupId>) -> Result<HashMap<GroupId, String>> {
    let ids: Vec<i64> = groups.iter().map(|group| group.as_i64()).collect();
    let sql = "SELECT id, name FROM device_group WHERE account_id = ?1 AND id IN ({ids})";
    let rows = for_ids(tx, sql, params![account], &ids).await?;
    rows.iter().map(|row| Ok((GroupId::from_i64(row.i64("id")?), row.text("name")?))).collect()
}

async fn finish(tx: &Tx, task: OverviewTask, overview: Overview) -> Result<bool> {
    let account = accounts::lock(tx, task.account.id).await?.id;
    let present = find(tx, account).await?;
    let is_reported = present.mark.is_none_or(|mark| mark.last >= task.period.last);
    if is_reported || present.revision != task.revision {
        set_mark(tx, account, present.mark).await?;
        return Ok(false);
    }
    set_mark(tx, account, Some(task.period.mark())).await?;
    outbox::write_overview(tx, account, &task.settings.recipients, &overview).await?;
    Ok(true)
}

async fn claim_overview(database: &Database, lease_ms: i64) -> Result<Option<OverviewTask>> {
    for account in database.read(move |tx| candidates(tx, lease_ms).boxed()).await? {
        let task = database.write(move |tx| claim(tx, account, lease_ms).boxed()).await?;
        if task.is_some() {
            return Ok(task);
        }
    }
    Ok(None)
}

forward! {
    impl Overviews for Database {
        read get_overview(&self, scope: Scope) -> StoredOverview = find(scope.account);
        write replace_overview(&self, &actor: Actor, seen: Revision, settings: OverviewSettings)
            -> StoredOverview = replace;
        run claim_overview(&self, lease_ms: i64) -> Option<OverviewTask> = claim_overview;
        read overview_counts(&self, account: AccountId, period: Period, devices: Vec<DeviceId>)
            -> HashMap<DeviceId, DeviceCounts> = counts;
        read group_names(&self, account: AccountId, groups: Vec<GroupId>)
            -> HashMap<GroupId, String> = group_names;
        write finish_overview(&self, task: OverviewTask, overview: Overview) -> bool = finish;
    }
}
