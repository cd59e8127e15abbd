//! Notes about alerts.

use perigee_core::alerts::alert::AlertNote;
use perigee_core::id::{AlertId, AlertNoteId};
use perigee_core::text::Lines;

use super::all::find;
use crate::http::extract::IdsPath;
use crate::http::prelude::*;

/// A note about an alert, or the record that somebody acknowledged the alert.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AlertNote)]
pub struct AlertNoteView {
    /// Unique identifier of the note, assigned by the server. It never changes.
    #[schema(example = "nte_01jc2m8k4n5p6")]
    id: String,
    /// ID of the user who wrote the note. Null if it was written with the link in a message, without an account.
    #[schema(example = "usr_01jc2m8k4n5p8")]
    user_id: Option<String>,
    /// Name of the person who wrote the note.
    #[schema(example = "Ana")]
    name: String,
    /// Text of the note. Null for an acknowledgement without a text.
    #[schema(example = "Called the skipper, all well")]
    text: Option<String>,
    /// Whether the person acknowledged the alert with this note.
    #[schema(example = true)]
    acknowledges: bool,
    /// Time at which the note was written.
    #[schema(example = "2026-05-01T12:05:00Z", format = DateTime)]
    creation: String,
}

/// A list of notes about an alert.
#[derive(Serialize, ToSchema)]
pub struct AlertNoteList {
    /// The notes, oldest first.
    notes: Vec<AlertNoteView>,
}

input! {
    /// A note about an alert.
    struct AlertNoteInput {
        /// Text of the note. It is visible to everybody who sees the alert.
        text: Lines<1, { AlertNote::TEXT_MAX }>, required, example "Called the skipper, all well";
    }
}

impl From<AlertNote> for AlertNoteView {
    fn from(note: AlertNote) -> Self {
        Self {
            id: note.id.to_string(),
            user_id: note.user.map(|user| user.to_string()),
            name: note.name,
            text: note.text,
            acknowledges: note.acknowledges,
            creation: note.created.to_string(),
        }
    }
}

fn read_note(body: &Value) -> ApiResult<String> {
    read_body(body, &[ENVELOPE], |input: AlertNoteInput, _| input.text)
}

/// List notes of an alert
///
/// Returns the notes about an alert, oldest first, with who wrote each. The alert must be visible to the caller.
#[utoipa::path(get, path = "/api/alerts/{alertId}/notes", tag = "alerts",
    responses((status = 200, description = "The notes, oldest first.", body = AlertNoteList)))]
pub async fn list_alert_notes(
    Call(app, caller): Call,
    IdPath(id): IdPath<AlertId>,
    params: Params,
) -> ApiReply<AlertNoteList> {
    params.finish()?;
    let alert = find(&app, &caller, id).await?;
    let notes = app.store.list_alert_notes(caller.scope(), alert.id).await?;
    Ok(caller.reply(AlertNoteList { notes: notes.into_iter().map(AlertNoteView::from).collect() }))
}

/// Retrieve a note of an alert
///
/// Returns one note about an alert. The alert must be visible to the caller.
#[utoipa::path(get, path = "/api/alerts/{alertId}/notes/{noteId}", tag = "alerts",
    responses((status = 200, description = "The note with this ID.", body = AlertNoteView)))]
pub async fn get_alert_note(
    Call(app, caller): Call,
    IdsPath(id, note): IdsPath<AlertId, AlertNoteId>,
    params: Params,
) -> ApiReply<AlertNoteView> {
    params.finish()?;
    let alert = find(&app, &caller, id).await?;
    let notes = app.store.list_alert_notes(caller.scope(), alert.id).await?;
    let note = notes.into_iter().find(|written| Some(written.id) == note);
    Ok(caller.reply(AlertNoteView::from(note.ok_or_else(|| not_found(Kind::AlertNote))?)))
}

/// Create a note of an alert
///
/// Adds a note to an alert, in the name of the caller. Requires the privilege `alerts.write`. An alert can have up to
/// 200 notes. Notes cannot be changed or deleted.
#[utoipa::path(post, path = "/api/alerts/{alertId}/notes", tag = "alerts", request_body = AlertNoteInput,
    responses((status = 201, description = "The note was created.", body = AlertNoteView)))]
pub async fn create_alert_note(
    Call(app, caller): Call,
    once: Once,
    IdPath(id): IdPath<AlertId>,
    body: JsonBody,
) -> ApiReply<AlertNoteView> {
    let alert = find(&app, &caller, id).await?;
    caller.require(Privilege::AlertsWrite)?;
    let text = read_note(&body.value)?;
    let held = once.hold(&app, &caller, &body)?;
    let made = app.store.add_alert_note(&caller.actor(), alert.id, text, held.key.clone()).await?;
    let note = made.into_inner();
    let address = app.base_url.join(&format!("/api/alerts/{}/notes/{}", alert.id, note.id));
    Ok(caller.reply(AlertNoteView::from(note)).created(address))
}
