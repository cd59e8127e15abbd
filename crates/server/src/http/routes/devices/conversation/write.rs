//! Sending messages to devices, withdrawing them, and marking texts as read.

use perigee_core::devices::command::Command;
use perigee_core::devices::conversation::{ConversationMessage, NewOutgoing, TextKind};
use perigee_core::devices::device::Device;
use perigee_core::id::ConversationMessageId;
use perigee_core::text::{Line, Lines, SHORT_MAX};
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use perigee_gateways::PARTS_MAX;

use super::links::{Link, links_of};
use super::read::find;
use super::view::{CheckView, MessageView, UnreadView};
use crate::http::input::{Instant, Whole, Word, read_fields};
use crate::http::json::Fields;
use crate::http::prelude::*;
use crate::http::routes::devices::{find_device, find_device_id};

input! {
    /// Message to a device.
    pub(super) struct ConversationMessageInput {
        /// Type of the message. Default: `text`.
        kind as "type": Word<TextKind>, nullable, example "text";
        /// Text of the message. Required for `text` and `emergencyMessage`, not permitted for other types. A text that the
        /// link cannot carry is refused: `GET /api/devices/{deviceId}/conversation/links` returns the limits.
        text: Lines<1, { ConversationMessage::TEXT_MAX }>, nullable, example "Storm warning: return to port";
        /// Name of the link, as in `GET /api/devices/{deviceId}/conversation/links`. Default: the first link that can
        /// carry the message.
        link: Line<1, SHORT_MAX>, nullable, example "garmin";
        /// Time after which the message is no longer sent, at most 30 days from now. Default: 24 hours from now.
        deadline: Instant, nullable, example "2026-05-02T12:00:00Z";
        /// Interval at which the device reports while tracking, in seconds. Required for `trackingInterval`, not permitted
        /// for other types.
        interval as "intervalSeconds": Whole<30, 65_535>, nullable, example null;
        /// `true` to send a `text` that is too long for one message in numbered parts, at most 9: "(1/3) ...". Each part is a
        /// message of its own, and is billed as one. Default: `false`.
        split: bool, or(false), example false;
    }
}

input! {
    /// Text to be checked.
    pub(super) struct ConversationTextInput {
        /// Text to check.
        text: Lines<1, { ConversationMessage::TEXT_MAX }>, required, example "Storm warning: return to port";
        /// Name of the link, as in `GET /api/devices/{deviceId}/conversation/links`. Default: the first link that can
        /// carry texts.
        link: Line<1, SHORT_MAX>, nullable, example "garmin";
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
    "parts",
];

/// A message as the client wrote it.
struct Wanted {
    kind: TextKind,
    text: String,
    link: Option<String>,
    deadline: Timestamp,
    interval_s: Option<u32>,
    split: bool,
}

fn read_message(body: &Value, zone: &Zone, now: Timestamp) -> ApiResult<Wanted> {
    let fields = Fields::of(body).map_err(invalid_body)?.in_zone(zone);
    read_fields(fields, &[ENVELOPE, READ_ONLY], |input: ConversationMessageInput, fields| {
        let kind = input.kind.unwrap_or(TextKind::Text);
        let name = kind.name();
        match &input.text {
            None if kind.has_text() => fields.refuse("text", &format!("is required for the type {name}")),
            Some(_) if !kind.has_text() => {
                fields.refuse("text", &format!("must not be given for the type {name}"));
            }
            _ => {}
        }
        match (kind, input.interval) {
            (TextKind::TrackingInterval, None) => {
                fields.refuse("intervalSeconds", "is required for the type trackingInterval");
            }
            (TextKind::TrackingInterval, Some(_)) | (_, None) => {}
            (_, Some(_)) => {
                fields.refuse("intervalSeconds", &format!("must not be given for the type {name}"));
            }
        }
        if input.split && kind != TextKind::Text {
            fields.refuse("split", &format!("must not be true for the type {name}"));
        }
        let latest = now.plus_seconds(Command::DEADLINE_MAX_S);
        let deadline = input.deadline.unwrap_or_else(|| now.plus_seconds(Command::DEADLINE_S));
        if deadline <= now || deadline > latest {
            fields.refuse("deadline", "must be in the future, at most 30 days from now");
        }
        Some(Wanted {
            kind,
            text: input.text.unwrap_or_default(),
            link: input.link,
            deadline,
            interval_s: input.interval,
            split: input.split,
        })
    })
}

/// The link that carries a message, or the reason why none does.
fn choose(links: Vec<Link>, by: Option<&str>, kind: TextKind) -> ApiResult<Link> {
    let refuse = |member: &str, detail: String| {
        invalid_body(vec![Problem { pointer: Pointer::root().member(member), detail }])
    };
    let names: Vec<String> = links.iter().map(|link| link.name().to_owned()).collect();
    let mut reasons = Vec::new();
    for link in links {
        if by.is_some_and(|name| name != link.name()) {
            continue;
        }
        if link.carries(kind) {
            return Ok(link);
        }
        reasons.push(link.reason(kind));
    }
    if let (Some(name), true) = (by, reasons.is_empty()) {
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

/// The texts of the messages that carry a message: its parts, if it is too long and may be split.
fn texts_of(
    app: &App,
    device: &Device,
    link: &Link,
    wanted: &Wanted,
    now: Timestamp,
) -> ApiResult<Vec<String>> {
    let refuse =
        |detail: String| Err(invalid_body(vec![Problem { pointer: Pointer::root().member("text"), detail }]));
    if !wanted.kind.has_text() {
        return Ok(vec![String::new()]);
    }
    let texts = if wanted.split { link.limit().split(&wanted.text) } else { Some(vec![wanted.text.clone()]) };
    let Some(texts) = texts else {
        return refuse(format!("is too long even for {PARTS_MAX} parts"));
    };
    match texts.iter().find_map(|text| link.refuses(app, device, text, now)) {
        Some(detail) => refuse(detail),
        None => Ok(texts),
    }
}

/// Send a message to a device
///
/// Queues a text, a request for the position, or another message that the network has. Trackers get it as a command over
/// their connection; providers of satellite networks get it within seconds. Sends the event `conversation.sent`, and `conversation.changed` when the state
/// of the message changes. Messages to one device are sent in order. A message is never sent again if it is not known
/// whether the provider took it: its state is then `unclear`.
///
/// A text that is too long for the link is refused, as is a message to a device that cannot receive any. With `split`, a text
/// that is too long is sent in at most 9 numbered parts, all or none; the answer is the first part, and `parts` has the IDs of
/// all. At most 50 messages may wait for a device. Of messages that a provider bills, at most 50 to a device and 500 of an
/// account are permitted in 24 hours; beyond that the request fails with `too-many`. Requires the privilege `commands.send`.
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
    let links = links_of(&app, &caller, &device).await?;
    let link = choose(links, wanted.link.as_deref(), wanted.kind)?;
    let texts = texts_of(&app, &device, &link, &wanted, caller.now())?;
    let Wanted { kind, deadline, interval_s, split, .. } = wanted;
    let mut new = Vec::with_capacity(texts.len());
    for text in texts {
        let carrier = link.carrier(kind, &text, deadline).ok_or_else(|| not_found(Kind::Device))?;
        new.push(NewOutgoing { kind, text, interval_s, carrier, deadline });
    }
    let held = once.hold(&app, &caller, &body)?;
    let sent = app.store.send_texts(&caller.actor(), device.id, new, held.key.clone()).await?.into_inner();
    app.ingest.commands.wake(device.id);
    let parts = split.then(|| sent.iter().map(|message| message.id.to_string()).collect());
    let first = sent.into_iter().next().ok_or_else(|| not_found(Kind::ConversationMessage))?;
    let address = app.base_url.join(&format!("/api/conversationMessages/{}", first.id));
    let mut view = MessageView::from(first);
    view.parts = parts;
    Ok(caller.reply(view).created(address))
}

/// Check a text before sending
///
/// Returns in how many messages a text would be sent to a device, and which of its characters the network cannot carry.
/// Nothing is sent or stored. Any user who may see the device may call this operation.
#[utoipa::path(post, path = "/api/devices/{deviceId}/conversation/check", tag = "conversations",
    request_body(content = ConversationTextInput, example = json!({"text": "Storm warning: return to port"})),
    responses((status = 200, description = "What sending the text would do.", body = CheckView)))]
pub async fn check_conversation_text(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    body: JsonBody,
) -> ApiReply<CheckView> {
    let device = find_device(&app, &caller, device.as_ref()).await?;
    let (text, by) = read_body(&body.value, &[ENVELOPE], |input: ConversationTextInput, _| {
        Some((input.text?, input.link))
    })?;
    let link = choose(links_of(&app, &caller, &device).await?, by.as_deref(), TextKind::Text)?;
    let (limit, now) = (link.limit(), caller.now());
    let parts = limit.split(&text);
    let is_refused = |part: &String| link.refuses(&app, &device, part, now).is_some();
    Ok(caller.reply(CheckView {
        link: link.name().to_owned(),
        length: limit.length(&text),
        max_length: limit.most(),
        can_send: parts.as_ref().is_some_and(|parts| !parts.iter().any(is_refused)),
        unsupported: link.unsupported(&app, &device, &text, now).into_iter().map(String::from).collect(),
        parts,
    }))
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
