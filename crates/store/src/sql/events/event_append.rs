//! Appending many events of one kind to the log, with few statements.

use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::{Additions, Result};

use crate::sql::query::insert_many;
use crate::{Tx, Value, params};

/// An event to append, without its kind.
pub(crate) struct NewEvent {
    /// The id of the object that changed.
    pub(crate) subject: String,
    /// The device it concerns, if one.
    pub(crate) device: Option<DeviceId>,
    /// Details, as a JSON object.
    pub(crate) data: String,
}

/// Appends events of one kind, in this order. The account is locked.
pub(crate) async fn append_events(
    tx: &Tx,
    account: AccountId,
    kind: EventKind,
    events: Vec<NewEvent>,
) -> Result<()> {
    let row = |event: NewEvent| {
        params![account, tx.now(), kind.name(), event.subject, event.device, event.data].to_vec()
    };
    let rows: Vec<Vec<Value>> = events.into_iter().map(row).collect();
    if !rows.is_empty() {
        tx.announce_events().await?;
    }
    let head = "INSERT INTO event (account_id, at, kind, subject, device_id, data)";
    insert_many(tx, head, &rows, "").await?;
    tx.mark(Additions::to_account(account));
    Ok(())
}
