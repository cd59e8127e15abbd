//! Sending messages to devices, withdrawing them, and marking texts as read.

use perigee_core::devices::command::Command;
use perigee_core::devices::conversation::{ConversationMessage, NewOutgoing, TextKind};
use perigee_core::devices::device::Device;
use perigee_core::id::ConversationMessageId;
use perigee_core::text::{Line, Lines, SHORT_MAX};
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use super::links::{Link, links_of};
use super::read::find;
use super::view::{MessageView, UnreadView};
use crate::http::input::{Instant, Word, read_fields};
use crate::http::json::Fields;
use crate::http::prelude::*;
use crate::http::routes::devices::{find_device, find_device_id};

input! {
    /// Message to a device.
    pub(super) struct ConversationMessageInput {
        /// Type of the message. Default: `text`.
        kind as "type": Word<TextKind>, nullable, example "text";
        /// Text of the message. Required for `text`, not permitted for `locationRequest`. A text that the link cannot
        /// carry is refused: `GET /api/devices/{deviceId}/conversation/links` returns the limits.
        text: Lines<1, { ConversationMessage::TEXT_MAX }>, nullable, example "Storm warning: return to port";
        /// Name of the link, as in `GET /api/devices/{deviceId}/conversation/links`. Default: the first link that can
        /// carry the message.
        link: Line<1, SHORT_MAX>, nullable, example "garmin";
        /// Time after which the message is no longer sent, at most 30 days from now. Default: 24 hours from now.
        deadline: Instant, nullable, example "2026-05-02T12:00:00Z";
    }
}

input! {
    /// Mark up to which texts are read.
    pub(super) struct ConversationReadInput {
        /// ID of the last message of the conversation that the caller has read. Default: the newest message.
        up_to as "upTo": Line<1, SHORT_MAX>, nullable, example "txt_01jc2m8k4n5p6";
    }
}

/// Members of answers that clients do not set.
const READ_ONLY: &[&str] = &[
    "id",
    "deviceId",
    "direction",
    "dateTime",
    "receivedAt",
    "latitude",
    "longitude",
    "createdBy",
    "state",
    "stateChangedAt",
    "reference",
    "error",
    "commandId",
];

/// A message as the client wrote it.
struct Wanted {
    kind: TextKind,
    text: String,
    link: Option<String>,
    deadline: Timestamp,
}

fn read_message(body: &Value, zone: &Zone, now: Timestamp) -> ApiResult<Wanted> {
    let fields = Fields::of(body).map_err(invalid_body)?.in_zone(zone);
    read_fields(fields, &[ENVELOPE, READ_ONLY], |input: ConversationMessageInput, fields| {
        let kind = input.kind.unwrap_or(TextKind::Text);
        match (kind, &input.text) {
            (TextKind::Text, None) => fields.refuse("text", "is required for the type text"),
            (TextKind::LocationRequest, Some(_)) => {
                fields.refuse("text", "must not be given for the type locationRequest");
            }
            _ => {}
        }
        let latest = now.plus_seconds(Command::DEADLINE_MAX_S);
        let deadline = input.deadline.unwrap_or_else(|| now.plus_seconds(Command::DEADLINE_S));
        if deadline <= now || deadline > latest {
            fields.refuse("deadline", "must be in the future, at most 30 days from now");
        }
        Some(Wanted { kind, text: input.text.unwrap_or_default(), link: input.link, deadline })
    })
}

/// The link that carries a message, or the reason why none does.
fn choose(links: Vec<Link>, wanted: &Wanted) -> ApiResult<Link> {
    let refuse = |member: &str, detail: String| {
        invalid_body(vec![Problem { pointer: Pointer::root().member(member), detail }])
    };
    let names: Vec<String> = links.iter().map(|link| link.name().to_owned()).collect();
    let mut reasons = Vec::new();
    for link in links {
        if wanted.link.as_deref().is_some_and(|name| name != link.name()) {
            continue;
        }
        if link.carries(wanted.kind) {
            return Ok(link);
        }
        reasons.push(link.reason(wanted.kind));
    }
    if let (Some(name), true) = (&wanted.link, reasons.is_empty()) {
        let known = if names.is_empty() { "no link yet".to_owned() } else { names.join(", ") };
        return Err(refuse("link", format!("The device has no link {name:?}. It has {known}.")));
    }
    if reasons.is_empty() {
        reasons.push(
            "The device was not heard yet, so it is not known how to reach it. Send the message when it has reported."
                .to_owned(),
        );
    }
    Err(refuse("link", reasons.join(" ")))
}

/// Refuses a text that the link cannot carry.
fn check_text(app: &App, device: &Device, link: &Link, wanted: &Wanted, now: Timestamp) -> ApiResult<()> {
    let detail = match wanted.kind {
        TextKind::Text => link.refuses(app, device, &wanted.text, now),
        TextKind::LocationRequest => None,
    };
    match detail {
        Some(detail) => Err(invalid_body(vec![Problem { pointer: Pointer::root().member("text"), detail }])),
        None => Ok(()),
    }
}

/// Send a message to a device
///
/// Queues a text, or a request for the position. Trackers get it as a command over their connection; providers of
/// satellite networks get it within seconds. Sends the event `conversation.sent`, and `conversation.changed` when the state
/// of the message changes. Messages to one device are sent in order. A message is never sent again if it is not known
/// whether the provider took it: its state is then `unclear`.
///
/// A text that is too long for the link is refused, as is a message to a device that cannot receive any. At most 50 messages
/// may wait for a device. Of messages that a provider bills, at most 50 to a device and 500 of an account are permitted in 24
/// hours; beyond that the request fails with `too-many`. Requires the privilege `commands.send`.
#[utoipa::path(post, path = "/api/devices/{deviceId}/conversation", tag = "conversations",
    request_body(content = ConversationMessageInput, example = json!({"text": "Storm warning: return to port"})),
    responses((status = 201, description = "The message was queued.", body = MessageView)))]
pub async fn send_message(
    Call(app, caller): Call,
    once: Once,
    DevicePath(device): DevicePath,
    body: JsonBody,
) -> ApiReply<MessageView> {
    let device = find_device(&app, &caller, device.as_ref()).await?;
    caller.require(Privilege::CommandsSend)?;
    let wanted = read_message(&body.value, caller.zone(), caller.now())?;
    let link = choose(links_of(&app, &caller, &device).await?, &wanted)?;
    check_text(&app, &device, &link, &wanted, caller.now())?;
    let Wanted { kind, text, deadline, .. } = wanted;
    let carrier = link.carrier(kind, &text, deadline).ok_or_else(|| not_found(Kind::Device))?;
    let held = once.hold(&app, &caller, &body)?;
    let new = NewOutgoing { kind, text, carrier, deadline };
    let sent = app.store.send_text(&caller.actor(), device.id, new, held.key.clone()).await?.into_inner();
    app.ingest.commands.wake(device.id);
    let address = app.base_url.join(&format!("/api/conversationMessages/{}", sent.id));
    Ok(caller.reply(MessageView::from(sent)).created(address))
}

/// Cancel a message to a device
///
/// Withdraws a message that is queued: its state becomes `cancelled`, and it is never sent. A message that was handed over,
/// or is being handed over, cannot be cancelled; the request then fails with `already-sent`, and with `already-ended` if the
/// message failed, expired or was cancelled. Requires the privilege `commands.send`. Sends the event `conversation.changed`.
#[utoipa::path(delete, path = "/api/conversationMessages/{conversationMessageId}", tag = "conversations",
    responses((status = 200, description = "The message was cancelled.", body = MessageView)))]
pub async fn cancel_message(
    Call(app, caller): Call,
    IdPath(id): IdPath<ConversationMessageId>,
) -> ApiReply<MessageView> {
    let message = find(&app, &caller, id).await?;
    caller.require(Privilege::CommandsSend)?;
    let cancelled = app.store.cancel_text(&caller.actor(), message.id).await?;
    Ok(caller.reply(MessageView::from(cancelled)))
}

/// Mark a conversation as read
///
/// Marks the texts of a device up to a message as read by the caller. Other users are not affected, and a mark never moves
/// back. Any user who may see the device may call this operation.
#[utoipa::path(post, path = "/api/devices/{deviceId}/conversation/read", tag = "conversations",
    request_body(content = ConversationReadInput, example = json!({"upTo": "txt_01jc2m8k4n5p6"})),
    responses((status = 200, description = "The number of texts that are unread now.", body = UnreadView)))]
pub async fn mark_conversation_read(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    body: JsonBody,
) -> ApiReply<UnreadView> {
    let device = find_device_id(&app, &caller, device.as_ref()).await?;
    let up_to = read_body(&body.value, &[ENVELOPE], |input: ConversationReadInput, fields| {
        let id = input.up_to.map(|text| text.parse::<ConversationMessageId>());
        if matches!(id, Some(Err(_))) {
            fields.refuse("upTo", "must be the ID of a message, such as txt_01jc2m8k4n5p6");
        }
        Some(id.and_then(Result::ok))
    })?;
    let unread = app.store.mark_conversation_read(&caller.actor(), device, up_to).await?;
    Ok(caller.reply(UnreadView { device_id: device.to_string(), unread }))
}
