//! Edits of timelines: trips that people divided or joined.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, DeviceId, EditId, UserId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::locations::location::TimeRange;
use perigee_core::store::Result;
use perigee_core::timeline::{EditKind, Edits, TimelineEdit};

use super::mark;
use crate::sql::query::Query;
use crate::sql::scope::{self, keep_devices};
use crate::sql::{access::audit, column, idempotency, ids};
use crate::{Row, Tx, params};

const COLUMNS: &str = "account_id, id, device_id, kind, from_at, to_at, user_id, created";

fn from_row(row: &Row) -> Result<TimelineEdit> {
    let name = row.str("kind")?;
    let kind = EditKind::ALL.into_iter().find(|kind| kind.name() == name);
    Ok(TimelineEdit {
        id: EditId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        device: DeviceId::from_i64(row.i64("device_id")?),
        kind: kind.ok_or_else(|| column::unreadable("kind", "no kind of edit"))?,
        range: TimeRange { from: row.timestamp("from_at")?, to: row.timestamp("to_at")? },
        user: row.opt_i64("user_id")?.map(UserId::from_i64),
        created: row.timestamp("created")?,
    })
}

/// The edits of a device, by time.
async fn of_device(tx: &Tx, account: AccountId, device: DeviceId) -> Result<Vec<TimelineEdit>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM timeline_edit WHERE account_id = ?1 AND device_id = ?2 ORDER BY from_at, to_at, id"
    );
    tx.query(&sql, params![account, device]).await?.iter().map(from_row).collect()
}

/// The edits of a device, as a derivation reads them.
pub(super) async fn for_derivation(tx: &Tx, account: AccountId, device: DeviceId) -> Result<Edits> {
    let edits = of_device(tx, account, device).await?;
    Ok(Edits::new(edits.into_iter().map(|edit| (edit.kind, edit.range))))
}

pub(super) async fn list(tx: &Tx, scope: Scope, device: DeviceId) -> Result<Vec<TimelineEdit>> {
    scope::require_device(tx, scope, device).await?;
    of_device(tx, scope.account, device).await
}

/// An edit of a visible device.
pub(super) async fn find(tx: &Tx, scope: Scope, id: EditId) -> Result<Option<TimelineEdit>> {
    let mut query = Query::new(
        format!("SELECT {COLUMNS} FROM timeline_edit WHERE account_id = ?1 AND id = ?2"),
        params![scope.account, id],
    );
    keep_devices(&mut query, scope, "device_id");
    query.row(tx).await?.as_ref().map(from_row).transpose()
}

pub(super) async fn add(
    tx: &Tx,
    actor: Actor,
    device: DeviceId,
    (kind, range): (EditKind, TimeRange),
    once: Option<IdempotencyKey>,
) -> Result<Created<TimelineEdit>> {
    let account = actor.scope.account;
    tx.lock_account(account).await?;
    scope::require_device(tx, actor.scope, device).await?;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let present = of_device(tx, account, device).await?;
    if let Some(equal) = present.iter().find(|edit| (edit.kind, edit.range) == (kind, range)) {
        idempotency::keep(tx, account, once.as_ref(), equal).await?;
        return Ok(Created::Before(equal.clone()));
    }
    let is_inside = |merge: &TimelineEdit| {
        merge.kind == EditKind::Merge && merge.range.from <= range.from && range.to <= merge.range.to
    };
    if kind == EditKind::Split && present.iter().any(is_inside) {
        return Err(StoreError::InUse(Kind::TimelineEdit));
    }
    let most = TimelineEdit::COUNT_MAX;
    if usize::try_from(most).is_ok_and(|most| present.len() >= most) {
        return Err(StoreError::TooMany { kind: Kind::TimelineEdit, most });
    }
    let id = ids::fresh_id(tx, "timeline_edit", account).await?;
    let sql = format!(
        "INSERT INTO timeline_edit ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING {COLUMNS}"
    );
    let values = params![account, id, device, kind.name(), range.from, range.to, actor.origin.user, tx.now()];
    let edit = from_row(&tx.query_one(&sql, values).await?)?;
    derive_again(tx, &edit).await?;
    let action = match kind {
        EditKind::Split => "segment.split",
        EditKind::Merge => "segment.merge",
    };
    let detail = match kind {
        EditKind::Split => range.from.to_string(),
        EditKind::Merge => format!("{} to {}", range.from, range.to),
    };
    audit::record_with(tx, account, &actor.origin, action, Some(device.to_string()), Some(detail)).await?;
    idempotency::keep(tx, account, once.as_ref(), &edit).await?;
    Ok(Created::Now(edit))
}

pub(super) async fn delete(tx: &Tx, actor: Actor, id: EditId) -> Result<()> {
    let account = actor.scope.account;
    tx.lock_account(account).await?;
    let edit = find(tx, actor.scope, id).await?.ok_or(StoreError::NotFound(Kind::TimelineEdit))?;
    let sql = "DELETE FROM timeline_edit WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account, id]).await?;
    derive_again(tx, &edit).await?;
    let detail = format!("{} of {}", edit.kind.name(), edit.device);
    let target = Some(id.to_string());
    audit::record_with(tx, account, &actor.origin, "timelineEdit.delete", target, Some(detail)).await
}

/// Marks the time of an edit. A derivation must not begin inside of a merged trip, so the anchors there are deleted.
async fn derive_again(tx: &Tx, edit: &TimelineEdit) -> Result<()> {
    let (account, device) = (edit.account, edit.device);
    if let Some(covered) = Edits::new([(edit.kind, edit.range)]).covered().first() {
        let sql = "DELETE FROM timeline_anchor \
                   WHERE account_id = ?1 AND device_id = ?2 AND at >= ?3 AND at <= ?4";
        tx.execute(sql, params![account, device, covered.from, covered.to]).await?;
    }
    mark::changed(tx, account, device, edit.range).await
}
