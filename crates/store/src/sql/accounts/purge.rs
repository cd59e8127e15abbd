//! Purging accounts that operators deleted, when their grace period has ended.
//!
//! Every transaction deletes a bounded number of rows, so that other accounts never wait long. What depends on lives comes
//! last: devices report, and their alerts go out, until the device itself is deleted.

use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Origin};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::{Purged, Result};
use perigee_core::time::Timestamp;

use crate::sql::{clock, devices, locations};
use crate::{Database, Tx, params};

/// Rows that one transaction deletes.
const ROWS_PER_JOB: i64 = 500;
/// Devices that one statement lists.
const DEVICES_PER_READ: i64 = 100;

/// A table with the columns of its key, beside that of the account. `None`: the table has one row for each account.
type Rows = (&'static str, Option<&'static str>);

/// Tables whose rows depend on users or on nothing, in an order in which no row is deleted before those that refer to it.
/// Large tables are before those whose rows would delete theirs by a cascade.
const RECORDS: &[Rows] = &[
    ("session", Some("hash")),
    ("link", Some("hash")),
    ("share_directory", Some("secret")),
    ("share", Some("id")),
    ("report_file", Some("report_id, number")),
    ("report_run", Some("report_id, number")),
    ("saved_report", Some("id")),
    ("webhook_delivery", Some("webhook_id, id")),
    ("webhook", Some("id")),
    ("escalation", Some("alert_id, plan")),
    ("rule_occurrence", Some("id")),
    ("rule_checkpoint", Some("device_id, at")),
    ("rule", Some("id")),
    ("geofence", Some("id")),
    ("float_plan_event", Some("id")),
    ("float_plan", Some("id")),
    ("maintenance_record", Some("plan_id, id")),
    ("maintenance_plan", Some("id")),
    ("driver_assignment", Some("id")),
    ("driver", Some("id")),
    ("timeline_segment", Some("device_id, id")),
    ("timeline_anchor", Some("device_id, at")),
    ("timeline_removed", Some("change_number")),
    ("timeline_edit", Some("id")),
    ("timeline_settings", Some("level, holder")),
    ("conversation_message", Some("id")),
    ("device_file", Some("id")),
    ("command", Some("id")),
    ("notification", Some("id")),
    ("alert_note", Some("id")),
    ("alert", Some("id")),
    ("contact_group", Some("id")),
    ("alert_routing", Some("level, holder")),
    ("template", Some("kind")),
    ("gateway", Some("id")),
    ("deleted_gateway", Some("id")),
    ("raw_message", Some("id")),
    ("heard_message", Some("identifier, id")),
    ("heard_device", Some("identifier")),
    ("sos_notice", Some("identifier")),
    ("sos_outbox", Some("id")),
    ("raw_usage", Some("day, gateway_id, device_id")),
    ("idempotency", Some("user_id, endpoint, key")),
    ("call_hour", Some("hour, user_id, by_key")),
    ("recipient_counter", Some("address, hour")),
    ("email_recipient", Some("address")),
    ("account_message_counter", Some("date, channel")),
    ("push_subscription", Some("id")),
    ("user_directory", Some("user_id")),
    ("account_user", Some("id")),
    ("group_membership", Some("group_id, edition, device_id")),
    ("group_change", Some("group_id, edition")),
    ("device_group", Some("id")),
];

/// Tables to which the deletion of devices adds rows, and those with one row for each account.
const REST: &[Rows] = &[
    ("event", Some("number")),
    ("audit", Some("id")),
    ("location_log", Some("last_number")),
    ("quarantine", Some("id")),
    ("operator_notice", Some("id")),
    ("account_logo", None),
    ("account_messaging", None),
    ("alert_search", None),
    ("event_trim", None),
    ("location_trim", None),
    ("overview", None),
    ("rule_follower", None),
    ("timeline_follower", None),
];

/// Purges the accounts whose time has come.
pub(super) async fn purge(database: &Database) -> Result<Purged> {
    let now = clock::trusted_now(database).await?;
    let due = database.read(move |tx| due(tx, now).boxed()).await?;
    let mut purged = Purged::default();
    for account in due {
        if database.write(move |tx| begin(tx, account, now).boxed()).await? {
            purged.rows += purge_one(database, account).await?;
            purged.accounts.push(account);
        }
    }
    Ok(purged)
}

async fn due(tx: &Tx, now: Timestamp) -> Result<Vec<AccountId>> {
    let sql = "SELECT id FROM account WHERE purge_at IS NOT NULL AND purge_at <= ?1 ORDER BY purge_at, id LIMIT 100";
    let rows = tx.query(sql, params![now]).await?;
    rows.iter().map(|row| Ok(AccountId::from_i64(row.i64("id")?))).collect()
}

/// Marks the account, unless the deletion was undone meanwhile. It cannot be undone afterwards.
async fn begin(tx: &Tx, account: AccountId, now: Timestamp) -> Result<bool> {
    tx.lock_account(account).await?;
    let sql =
        "UPDATE account SET is_purging = TRUE WHERE id = ?1 AND purge_at IS NOT NULL AND purge_at <= ?2";
    Ok(tx.execute(sql, params![account, now]).await? > 0)
}

async fn purge_one(database: &Database, account: AccountId) -> Result<u64> {
    let mut rows = delete_all(database, account, RECORDS).await?;
    rows += delete_devices(database, account).await?;
    // Devices reported until they were deleted, and their alerts and messages were stored.
    rows += delete_all(database, account, RECORDS).await?;
    rows += delete_all(database, account, REST).await?;
    database.write_background(move |tx| finish(tx, account).boxed()).await?;
    Ok(rows)
}

async fn delete_all(database: &Database, account: AccountId, tables: &'static [Rows]) -> Result<u64> {
    let mut deleted = 0;
    for table in tables {
        loop {
            let some = database.write_background(move |tx| delete_some(tx, account, *table).boxed()).await?;
            deleted += some;
            if some < ROWS_PER_JOB.unsigned_abs() {
                break;
            }
        }
    }
    Ok(deleted)
}

async fn delete_some(tx: &Tx, account: AccountId, (table, key): Rows) -> Result<u64> {
    tx.lock_account(account).await?;
    let Some(key) = key else {
        let sql = format!("DELETE FROM {table} WHERE account_id = ?1");
        return Ok(tx.execute(&sql, params![account]).await?);
    };
    let sql = format!(
        "DELETE FROM {table} WHERE account_id = ?1 AND ({key}) IN ( \
             SELECT {key} FROM {table} WHERE account_id = ?1 LIMIT ?2)"
    );
    Ok(tx.execute(&sql, params![account, ROWS_PER_JOB]).await?)
}

/// Deletes all devices, each after its history.
async fn delete_devices(database: &Database, account: AccountId) -> Result<u64> {
    let mut deleted = 0;
    loop {
        let some = database.read(move |tx| devices_of(tx, account).boxed()).await?;
        for device in &some {
            delete_device(database, account, *device).await?;
            deleted += 1;
        }
        if some.is_empty() {
            return Ok(deleted);
        }
    }
}

async fn devices_of(tx: &Tx, account: AccountId) -> Result<Vec<DeviceId>> {
    let sql = "SELECT id FROM device WHERE account_id = ?1 ORDER BY id LIMIT ?2";
    let rows = tx.query(sql, params![account, DEVICES_PER_READ]).await?;
    rows.iter().map(|row| Ok(DeviceId::from_i64(row.i64("id")?))).collect()
}

async fn delete_device(database: &Database, account: AccountId, device: DeviceId) -> Result<()> {
    loop {
        let _guard = locations::exclude_changes(database).await;
        let job = database
            .write_background(move |tx| locations::retire_some(tx, account, device, Timestamp::MAX).boxed());
        let (_, more) = job.await?;
        if !more {
            break;
        }
    }
    let actor = Actor::for_operator(account, Origin::service());
    let job = database.write_background(move |tx| devices::delete_device(tx, actor, device, None).boxed());
    match job.await {
        // A command on another node may have deleted it meanwhile.
        Err(StoreError::NotFound(Kind::Device)) => Ok(()),
        other => other,
    }
}

/// Deletes what was added since, and the account.
async fn finish(tx: &Tx, account: AccountId) -> Result<()> {
    tx.lock_account(account).await?;
    for (table, _) in REST {
        tx.execute(&format!("DELETE FROM {table} WHERE account_id = ?1"), params![account]).await?;
    }
    tx.execute("DELETE FROM account WHERE id = ?1", params![account]).await?;
    tracing::info!(%account, "purged an account");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn no_table_is_listed_twice() {
        let mut seen = BTreeSet::new();
        for (table, _) in RECORDS.iter().chain(REST) {
            assert!(seen.insert(table), "{table}");
        }
    }

    #[test]
    fn every_table_of_an_account_is_emptied() {
        let mut tables = BTreeMap::new();
        for migration in crate::migration::SQLITE {
            for statement in migration.sql.split(";\n") {
                let statement: String =
                    statement.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
                if let Some((name, body)) =
                    statement.strip_prefix("CREATE TABLE ").and_then(|rest| rest.split_once(" ("))
                {
                    tables.insert(name.to_owned(), body.to_owned());
                } else if let Some(name) = statement.strip_prefix("DROP TABLE ") {
                    tables.remove(name);
                }
            }
        }
        assert!(tables.len() > 80, "{tables:?}");
        let listed: BTreeSet<&str> = RECORDS.iter().chain(REST).map(|(table, _)| *table).collect();
        for (table, body) in tables {
            let is_of_accounts = body.contains("account_id ");
            // Devices are deleted one by one, with their history.
            let goes_with_others = body.contains("ON DELETE CASCADE") || table == "device";
            assert!(
                !is_of_accounts || goes_with_others || listed.contains(&*table),
                "{table} keeps its rows"
            );
        }
    }
}
