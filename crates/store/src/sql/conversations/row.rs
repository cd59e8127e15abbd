//! Rows of messages, the form of their texts, and the events about them.

use perigee_core::devices::conversation::{ConversationMessage, Direction, TextKind, TextState};
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, CommandId, ConversationMessageId, DeviceId, UserId};
use perigee_core::locations::location::{Latitude, Longitude};
use perigee_core::store::Result;

use crate::sql::column;
use crate::sql::events::event_append::{NewEvent, append_events};
use crate::{Row, Tx};

pub(super) const COLUMNS: &str = "account_id, id, device_id, direction, kind, body, time, received_at, latitude, \
                                  longitude, link, created_by, state, changed_at, deadline, reference, error, \
                                  command_id, ordinal, interval_s";

pub(super) fn from_row(row: &Row) -> Result<ConversationMessage> {
    let (direction, kind, state) = (row.text("direction")?, row.text("kind")?, row.text("state")?);
    let latitude = row.opt_int("latitude")?.map(Latitude::from_e7);
    let longitude = row.opt_int("longitude")?.map(Longitude::from_e7);
    Ok(ConversationMessage {
        id: ConversationMessageId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        device: DeviceId::from_i64(row.i64("device_id")?),
        direction: Direction::named(&direction)
            .ok_or_else(|| column::unreadable("direction", "not a direction"))?,
        kind: TextKind::named(&kind).ok_or_else(|| column::unreadable("kind", "not a kind of message"))?,
        text: row.text("body")?,
        time: row.timestamp("time")?,
        received_at: row.timestamp("received_at")?,
        position: latitude.zip(longitude),
        link: row.opt_text("link")?,
        created_by: row.opt_i64("created_by")?.map(UserId::from_i64),
        state: TextState::named(&state)
            .ok_or_else(|| column::unreadable("state", "not a state of a message"))?,
        changed_at: row.timestamp("changed_at")?,
        deadline: row.opt_timestamp("deadline")?,
        reference: row.opt_text("reference")?,
        error: row.opt_text("error")?,
        command: row.opt_i64("command_id")?.map(CommandId::from_i64),
        interval_s: row.opt_int("interval_s")?,
    })
}

/// Text in the form that a column can store, without control characters that no reader shows.
pub(super) fn cleaned(text: &str) -> String {
    let is_kept = |letter: &char| *letter == '\n' || !letter.is_control();
    let kept: String = text.chars().filter(is_kept).take(ConversationMessage::TEXT_MAX).collect();
    kept.trim().to_owned()
}

/// A reference or an error in the form that a column can store.
pub(super) fn note(text: &str) -> String {
    text.chars().filter(|letter| *letter != '\0').take(ConversationMessage::NOTE_MAX).collect()
}

/// Appends an event about a message in its present state.
pub(super) async fn announce(tx: &Tx, kind: EventKind, message: &ConversationMessage) -> Result<()> {
    // The state as it was: the message read with the event may have changed since.
    let data = serde_json::json!({ "state": message.state.name() }).to_string();
    let event = NewEvent { subject: message.id.to_string(), device: Some(message.device), data };
    append_events(tx, message.account, kind, vec![event]).await
}
