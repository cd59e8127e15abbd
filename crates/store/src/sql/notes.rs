//! Many events of one kind, appended to the log by few statements.

use perigee_core::event::EventKind;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;

use super::query::insert_many;
use crate::{Tx, Value, params};

/// What an event says beside its kind.
pub(crate) struct Note {
    /// The id of what it happened to.
    pub(crate) subject: String,
    /// The device it concerns, if one.
    pub(crate) device: Option<DeviceId>,
    /// Figures, as a JSON object.
    pub(crate) data: String,
}

/// Appends one event of this kind for each note, in their order.
pub(crate) async fn append_notes(
    tx: &Tx,
    account: AccountId,
    kind: EventKind,
    notes: Vec<Note>,
) -> Result<()> {
    let row =
        |note: Note| params![account, tx.now(), kind.name(), note.subject, note.device, note.data].to_vec();
    let rows: Vec<Vec<Value>> = notes.into_iter().map(row).collect();
    let head = "INSERT INTO event (account_id, at, kind, subject, device_id, data)";
    insert_many(tx, head, &rows, "").await?;
    Ok(())
}
