//! The event log.
//!
//! Readers go by number, so within an account no number may be committed after a higher one. Numbers are therefore
//! drawn under the lock of the account, which is held until the commit. Locations draw theirs from the same numbers:
//! their log is a part of this one, so that no location is written twice.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::actor::{Reach, Scope};
use perigee_core::error::StoreError;
use perigee_core::event::{Event, EventKind};
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::{Events, Result};

use super::{column, event_trim, locations};
use crate::database::Database;
use crate::params;
use crate::row::Row;
use crate::tx::Tx;

/// Appends an event about this subject; `device` is the one it concerns, if one.
pub(crate) async fn append(
    tx: &Tx,
    account: AccountId,
    kind: EventKind,
    subject: String,
    device: Option<DeviceId>,
    data: serde_json::Value,
) -> Result<()> {
    tx.lock_account(account).await?;
    tx.execute(
        "INSERT INTO event (account_id, at, kind, subject, device_id, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![account, tx.now(), kind.name(), subject, device, data.to_string()],
    )
    .await?;
    Ok(())
}

async fn list(tx: &Tx, scope: Scope, after: i64, limit: u32) -> Result<Vec<Event>> {
    if after > 0 && after < event_trim::trimmed_to(tx, scope.account).await? {
        return Err(StoreError::CursorExpired);
    }
    let mut events = changes(tx, scope, after, limit).await?;
    events.extend(locations::events(tx, scope, after, limit).await?);
    events.sort_unstable_by_key(|event| event.number);
    events.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(events)
}

/// Every event that is not of a location.
async fn changes(tx: &Tx, scope: Scope, after: i64, limit: u32) -> Result<Vec<Event>> {
    let mut values = params![scope.account, after, i64::from(limit)].to_vec();
    let in_sight = match scope.reach {
        Reach::Account => "",
        Reach::Group(group) => {
            values.extend_from_slice(params![group, group.to_string()]);
            "AND (subject = ?5 OR EXISTS (
                SELECT 1 FROM group_member m
                WHERE m.account_id = event.account_id AND m.group_id = ?4 AND m.device_id = event.device_id))"
        }
        Reach::Device(device) => {
            values.extend_from_slice(params![device]);
            "AND device_id = ?4"
        }
    };
    let sql = format!(
        "SELECT number, account_id, at, kind, subject, device_id, data FROM event
         WHERE account_id = ?1 AND number > ?2 {in_sight}
         ORDER BY number LIMIT ?3"
    );
    tx.query(&sql, &values).await?.iter().map(from_row).collect()
}

fn from_row(row: &Row) -> Result<Event> {
    Ok(Event {
        number: row.i64("number")?,
        account: AccountId::from_i64(row.i64("account_id")?),
        at: row.timestamp("at")?,
        kind: column::parsed(row, "kind")?,
        subject: row.text("subject")?,
        device: row.opt_i64("device_id")?.map(DeviceId::from_i64),
        data: column::json(row, "data")?,
    })
}

#[async_trait]
impl Events for Database {
    async fn list_events(&self, scope: Scope, after: i64, limit: u32) -> Result<Vec<Event>> {
        self.read_snapshot(move |tx| list(tx, scope, after, limit).boxed()).await
    }

    async fn trim_events(&self, keep_ms: i64) -> Result<u64> {
        event_trim::trim(self, keep_ms).await
    }
}
