//! Reading the rows of webhooks and of their deliveries.

use perigee_core::access::actor::Scope;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, DeliveryId, DeviceId, UserId, WebhookId};
use perigee_core::revision::Revision;
use perigee_core::store::Result;
use perigee_core::webhooks::webhook::{
    Gap, NewDelivery, Webhook, WebhookDelivery, WebhookSecret, WebhookSettings,
};

use crate::sql::column;
use crate::tx::RowLock;
use crate::{Row, Tx, params};

/// The columns that [`from_row`] reads.
pub(in crate::sql) const COLUMNS: &str = "account_id, id, revision, name, url, wanted, enabled, secret, previous_secret, \
     previous_until, read_to, held_until, disabled_at, disabled_reason, gap_at, gap_from, gap_to, created_by, \
     creation, last_modified";
/// The columns that [`delivery`] reads.
pub(in crate::sql) const DELIVERY_COLUMNS: &str = "id, message, kind, device_id, body, state, attempts, next_at, expires, \
     last_at, last_status, last_error, creation";

/// The webhook in this row.
pub(in crate::sql) fn from_row(row: &Row) -> Result<Webhook> {
    let previous = row.opt_bytes("previous_secret")?.map(WebhookSecret);
    let gap_at = row.opt_timestamp("gap_at")?;
    let gap = match (gap_at, row.opt_i64("gap_from")?, row.opt_i64("gap_to")?) {
        (Some(at), Some(from), Some(to)) => Some(Gap { at, from, to }),
        _ => None,
    };
    Ok(Webhook {
        id: WebhookId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        revision: Revision(row.i64("revision")?),
        settings: WebhookSettings {
            name: row.opt_text("name")?,
            url: row.text("url")?,
            filter: column::json(row, "wanted")?,
            enabled: row.bool("enabled")?,
        },
        secret: WebhookSecret(row.bytes("secret")?),
        previous: previous.zip(row.opt_timestamp("previous_until")?),
        read_to: row.i64("read_to")?,
        held_until: row.opt_timestamp("held_until")?,
        disabled: row.opt_timestamp("disabled_at")?.zip(row.opt_text("disabled_reason")?),
        gap,
        created_by: row.opt_i64("created_by")?.map(UserId::from_i64),
        creation: row.timestamp("creation")?,
        last_modified: row.timestamp("last_modified")?,
    })
}

/// The delivery in this row.
pub(in crate::sql) fn delivery(row: &Row) -> Result<WebhookDelivery> {
    Ok(WebhookDelivery {
        id: DeliveryId::from_i64(row.i64("id")?),
        content: NewDelivery {
            message: row.text("message")?,
            kind: row.text("kind")?,
            device: row.opt_i64("device_id")?.map(DeviceId::from_i64),
            body: row.text("body")?,
        },
        state: column::parsed(row, "state")?,
        attempts: row.int("attempts")?,
        next_at: row.timestamp("next_at")?,
        expires: row.timestamp("expires")?,
        last_at: row.opt_timestamp("last_at")?,
        last_status: row.opt_int("last_status")?,
        last_error: row.opt_text("last_error")?,
        creation: row.timestamp("creation")?,
    })
}

/// One webhook of the account.
pub(in crate::sql) async fn find(tx: &Tx, account: AccountId, id: WebhookId) -> Result<Option<Webhook>> {
    let sql = format!("SELECT {COLUMNS} FROM webhook WHERE account_id = ?1 AND id = ?2");
    tx.query_opt(&sql, params![account, id]).await?.as_ref().map(from_row).transpose()
}

/// One webhook, locked until the end of the transaction.
pub(in crate::sql) async fn lock(tx: &Tx, account: AccountId, id: WebhookId) -> Result<Option<Webhook>> {
    let lock = tx.row_lock(RowLock::NoKeyUpdate);
    let sql = format!("SELECT {COLUMNS} FROM webhook WHERE account_id = ?1 AND id = ?2 {lock}");
    tx.query_opt(&sql, params![account, id]).await?.as_ref().map(from_row).transpose()
}

/// One webhook of the account, locked; fails if it is missing.
pub(in crate::sql) async fn require(tx: &Tx, scope: Scope, id: WebhookId) -> Result<Webhook> {
    lock(tx, scope.account, id).await?.ok_or(StoreError::NotFound(Kind::Webhook))
}
