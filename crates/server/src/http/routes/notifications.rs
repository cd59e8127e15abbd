//! Messages to people: their delivery state, and resending.

use axum::extract::State;
use axum::response::Response;
use perigee_core::error::Kind;
use perigee_core::id::{AlertId, NotificationId};
use perigee_core::notification::{Channel, Notification, NotificationFilter, NotificationState};
use perigee_core::privilege::Privilege;
use perigee_core::zone::Zone;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::http::error::{ApiResult, not_found};
use crate::http::extract::{Caller, DevicePath, IdPath, Params};
use crate::http::hidden_address::{is_visible, shown_address};
use crate::http::list::answer_list;
use crate::http::names::device_param;
use crate::http::reply::Reply;
use crate::http::routes::alerts::view::ChannelName;
use crate::http::routes::devices::find_device;

/// Messages a page has unless a client says otherwise.
const PAGE: u32 = 100;

/// One message to one person.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Notification)]
pub struct NotificationView {
    /// Its id, the same on every attempt.
    #[schema(example = "ntf_01jc2m8k4n5pa")]
    id: String,
    /// The device it is about.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: Option<String>,
    /// The alert it tells of; null when it tells the owner of a limit.
    #[schema(example = "alr_01jc2m8k4n5p9")]
    alert_id: Option<String>,
    /// The alert's name, or the event's the owner is told of.
    #[schema(example = "SOSButton")]
    name: String,
    /// Whether the alert cannot wait.
    #[schema(example = true)]
    critical: bool,
    /// The step of an escalation that it belongs to, from 1; 0 for the messages of the alert itself.
    #[schema(example = 0, minimum = 0)]
    step: u32,
    /// How it is sent: `email` or `sms`.
    #[schema(value_type = ChannelName, example = "email")]
    channel: &'static str,
    /// E-mail address or telephone number of the recipient. Users of one group or device get only the first characters, such as
    /// `a***`, unless it is their own.
    #[schema(example = "ana@example.com")]
    address: String,
    /// Name of the recipient; null if the routing has none or the address is hidden.
    #[schema(example = "Ana")]
    recipient: Option<String>,
    /// Whether it waits, was sent, or failed.
    #[schema(value_type = StateName, example = "sent")]
    state: &'static str,
    /// Why: for `suppressed` one of limit, critical-reserve, repeated, schedule, channel-off, account-off, country,
    /// sms-daily-cap, sms-monthly-cap, email-daily-cap, email-ceiling, email-recipient-cap, unsubscribed and unconfirmed; else what was learnt from the other side.
    #[schema(example = json!(null))]
    reason: Option<String>,
    /// How often it was tried.
    #[schema(example = 1, minimum = 0)]
    attempts: u32,
    /// When it is tried next; null when it is not.
    #[schema(example = json!(null), format = DateTime)]
    next_attempt: Option<String>,
    /// The account's day whose counter it counts in; null when it counts in none.
    #[schema(example = "2026-05-01", format = Date)]
    counted_on: Option<String>,
    /// The segments of an SMS; 0 for an e-mail.
    #[schema(example = 0, minimum = 0)]
    segments: u32,
    /// What the provider calls it.
    #[schema(example = json!(null))]
    reference: Option<String>,
    /// When it was written.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// When the other side took it.
    #[schema(example = "2026-05-01T12:00:01Z", format = DateTime)]
    sent_at: Option<String>,
    /// When it reached the telephone, as far as the provider told.
    #[schema(example = json!(null), format = DateTime)]
    delivered_at: Option<String>,
}

/// How a message stands.
#[derive(ToSchema)]
#[schema(as = NotificationState, rename_all = "lowercase")]
pub enum StateName {
    /// It is to be sent, now or after a pause.
    Waiting,
    /// It is counted, and being sent.
    Sending,
    /// The other side took it.
    Sent,
    /// A rule kept it from being sent; `reason` says which.
    Suppressed,
    /// The other side did not take it, and it is tried no more.
    Failed,
    /// Nobody knows whether the other side took it. It counts as sent and is tried no more.
    Unclear,
}

/// A list of messages to people.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotificationList {
    /// The messages, newest first.
    #[schema(value_type = Vec<NotificationView>)]
    notifications: Vec<NotificationView>,
    /// Where to continue, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// One message, as it is answered.
#[derive(Serialize, ToSchema)]
#[schema(as = OneNotification)]
pub struct NotificationAnswer {
    /// The message that was asked for.
    notification: NotificationView,
}

impl NotificationView {
    /// The message as the caller may see it.
    fn of(message: Notification, caller: &Caller) -> Self {
        let is_shown = is_visible(caller, &message.address);
        let waits = message.state == NotificationState::Waiting;
        Self {
            id: message.id.to_string(),
            device_id: message.device.map(|device| device.to_string()),
            alert_id: message.alert.map(|alert| alert.to_string()),
            name: message.name,
            critical: message.critical,
            step: message.step,
            channel: message.channel.name(),
            address: shown_address(caller, message.address),
            recipient: message.preferences.name.filter(|_| is_shown),
            state: message.state.name(),
            reason: message.reason,
            attempts: message.attempts,
            next_attempt: message.due.filter(|_| waits).map(|due| due.to_string()),
            counted_on: message.counted_on,
            segments: message.segments,
            reference: message.reference,
            creation: message.created.to_string(),
            sent_at: message.sent_at.map(|at| at.to_string()),
            delivered_at: message.delivered_at.map(|at| at.to_string()),
        }
    }
}

fn read_filter(params: &mut Params, zone: &Zone) -> NotificationFilter {
    let states: Vec<_> = NotificationState::ALL.iter().map(|state| (state.name(), *state)).collect();
    let channels: Vec<_> = Channel::ALL.iter().map(|channel| (channel.name(), *channel)).collect();
    let (from, to) = (params.instant("from", zone), params.instant("to", zone));
    if from.zip(to).is_some_and(|(from, to)| to < from) {
        params.refuse("to", "The parameter \"to\" must not be before \"from\".");
    }
    NotificationFilter {
        device: None,
        alert: params.parsed::<AlertId>("alert", "the id of an alert, such as \"alr_01jc2m8k4n5p9\""),
        state: params.word("state", &states),
        channel: params.word("channel", &channels),
        from,
        to,
    }
}

async fn answer(
    app: &App,
    caller: &Caller,
    filter: NotificationFilter,
    params: Params,
) -> ApiResult<Response> {
    let part = params.finish_page("notifications", PAGE)?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let (store, filter) = (store.clone(), filter.clone());
        async move { store.list_notifications(scope, &filter, page).await }
    };
    let reader = caller.clone();
    let show = move |message| NotificationView::of(message, &reader);
    answer_list(app, caller, "notifications", part, fetch, show).await
}

/// List messages to people.
///
/// About every device in sight, newest first, always in pages.
#[utoipa::path(get, path = "/api/notifications", tag = "notifications", params(
    ("device" = Option<String>, Query, description = "Only about this device, by its id, identifier or name.", example = "dev_01jc2m8k4n5p7"),
    ("alert" = Option<String>, Query, description = "Only of this alert.", example = "alr_01jc2m8k4n5p9"),
    ("state" = Option<StateName>, Query, description = "Only messages that stand so."),
    ("channel" = Option<ChannelName>, Query, description = "Only messages by this channel."),
    ("from" = Option<String>, Query, description = "Only messages written at this instant or later.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "Only messages written at this instant or before.", format = DateTime, example = "2026-05-02T00:00:00Z"),
    ("limit" = Option<u32>, Query, description = "Messages at the most; 100 unless given.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Where to continue: `nextCursor` of the previous page."),
), responses((status = 200, description = "The messages.", body = NotificationList)))]
pub async fn list_notifications(
    State(app): State<App>,
    caller: Caller,
    mut params: Params,
) -> ApiResult<Response> {
    let device = device_param(&app, &caller, &mut params, "device").await?;
    let filter = NotificationFilter { device, ..read_filter(&mut params, caller.zone()) };
    answer(&app, &caller, filter, params).await
}

/// List messages about a device.
///
/// Newest first, always in pages.
#[utoipa::path(get, path = "/api/devices/{deviceId}/notifications", tag = "notifications", params(
    ("deviceId" = String, Path, description = "The device's id or identifier.", example = "dev_01jc2m8k4n5p7"),
    ("alert" = Option<String>, Query, description = "Only of this alert.", example = "alr_01jc2m8k4n5p9"),
    ("state" = Option<StateName>, Query, description = "Only messages that stand so."),
    ("channel" = Option<ChannelName>, Query, description = "Only messages by this channel."),
    ("from" = Option<String>, Query, description = "Only messages written at this instant or later.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "Only messages written at this instant or before.", format = DateTime, example = "2026-05-02T00:00:00Z"),
    ("limit" = Option<u32>, Query, description = "Messages at the most; 100 unless given.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Where to continue: `nextCursor` of the previous page."),
), responses((status = 200, description = "The messages.", body = NotificationList)))]
pub async fn list_device_notifications(
    State(app): State<App>,
    caller: Caller,
    DevicePath(device): DevicePath,
    mut params: Params,
) -> ApiResult<Response> {
    let device = find_device(&app, &caller, device.as_ref()).await?.id;
    let filter = NotificationFilter { device: Some(device), ..read_filter(&mut params, caller.zone()) };
    answer(&app, &caller, filter, params).await
}

async fn find(app: &App, caller: &Caller, id: Option<NotificationId>) -> ApiResult<Notification> {
    let missing = || not_found(Kind::Notification);
    app.store.find_notification(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// Read a message.
#[utoipa::path(get, path = "/api/notifications/{notificationId}", tag = "notifications",
    params(("notificationId" = String, Path, description = "The message's id.", example = "ntf_01jc2m8k4n5pa")),
    responses((status = 200, description = "The message.", body = NotificationAnswer)))]
pub async fn get_notification(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<NotificationId>,
    params: Params,
) -> ApiResult<Reply<NotificationAnswer>> {
    params.finish()?;
    let notification = NotificationView::of(find(&app, &caller, id).await?, &caller);
    Ok(caller.reply(NotificationAnswer { notification }))
}

/// Send a message again.
///
/// One that was suppressed, failed or is unclear waits again and is counted anew; one that waits or is being sent
/// stays as it is. Needs `alerts.write`.
#[utoipa::path(post, path = "/api/notifications/{notificationId}/resend", tag = "notifications",
    params(("notificationId" = String, Path, description = "The message's id.", example = "ntf_01jc2m8k4n5pa")),
    responses((status = 200, description = "The message as it is now.", body = NotificationAnswer)))]
pub async fn resend_notification(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<NotificationId>,
    params: Params,
) -> ApiResult<Reply<NotificationAnswer>> {
    params.finish()?;
    let message = find(&app, &caller, id).await?;
    caller.require(Privilege::AlertsWrite)?;
    let resent = app.store.resend_notification(&caller.actor(), message.id).await?;
    let notification = NotificationView::of(resent, &caller);
    Ok(caller.reply(NotificationAnswer { notification }))
}
