//! Notifications: their delivery state, and resending.

pub mod alert_routing;
mod browser_name;
pub mod contact_groups;
pub mod mail;
pub mod mail_page;
pub mod notification_settings;
pub mod overview_report;
pub mod push_subscriptions;
pub mod push_views;
pub mod templates;

use perigee_core::id::{AlertId, NotificationId};
use perigee_core::notifications::notification::{
    Channel, Notification, NotificationFilter, NotificationState,
};
use perigee_core::zone::Zone;

use crate::http::hidden_address::{is_visible, shown_address};
use crate::http::names::device_param;
use crate::http::prelude::*;
use crate::http::routes::alerts::view::ChannelName;
use crate::http::routes::devices::find_device;

/// Notifications per page by default.
const PAGE: u32 = 100;

/// A notification: one message to one recipient by one channel.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Notification)]
pub struct NotificationView {
    /// Unique identifier of the notification, assigned by the server. It stays the same when the notification is sent
    /// again.
    #[schema(example = "ntf_01jc2m8k4n5pa")]
    id: String,
    /// ID of the device that the notification is about. Null if it is about no device.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: Option<String>,
    /// ID of the alert that the notification is about. Null if it is about something else, such as a reached limit.
    #[schema(example = "alr_01jc2m8k4n5p9")]
    alert_id: Option<String>,
    /// Name of the alert, or of the event that the notification is about.
    #[schema(example = "SOSButton")]
    name: String,
    /// Whether the alert is critical.
    #[schema(example = true)]
    critical: bool,
    /// Number of the escalation step that the notification belongs to, from 1. 0 for the first notifications of an
    /// alert.
    #[schema(example = 0, minimum = 0)]
    step: u32,
    /// Channel by which the notification is sent.
    #[schema(value_type = ChannelName, example = "email")]
    channel: &'static str,
    /// Address of the recipient, in the format of the channel. Callers who see only a group or a device get only the
    /// first characters, such as `a***`, unless it is their own address.
    #[schema(example = "ana@example.com")]
    address: String,
    /// Name of the recipient. Null if it is unknown or the address is hidden.
    #[schema(example = "Ana")]
    recipient: Option<String>,
    /// Delivery state: `waiting`, `sending`, `sent`, `suppressed`, `failed` or `unclear`.
    #[schema(value_type = StateName, example = "sent")]
    state: &'static str,
    /// Reason of the state. For `suppressed`, one of: `limit` (the device reached its daily limit),
    /// `critical-reserve` (the rest of the daily limit is reserved for critical alerts), `repeated` (the recipient
    /// was notified of the same alert a short time ago), `schedule` (outside the hours of the recipient),
    /// `channel-off` (the channel is not configured, or the operator turned it off), `account-off` (the account
    /// turned the channel off), `country` (SMS to this country are not allowed), `sms-daily-cap` and
    /// `sms-monthly-cap` (the account reached its SMS segments of the day or month), `daily-cap` and `monthly-cap` (the
    /// account reached what it may send by another channel in a day or month), `email-daily-cap` (the account reached
    /// its e-mails of the day), `email-ceiling` (the account reached the ceiling of e-mails per day),
    /// `email-recipient-cap` (the account reached its e-mails to this recipient in this hour), `unsubscribed` (the
    /// recipient unsubscribed), `unconfirmed` (the recipient has not confirmed yet). For other states, what the mail
    /// server or SMS provider answered. Null if there is none.
    #[schema(example = json!(null))]
    reason: Option<String>,
    /// Number of attempts to send the notification so far.
    #[schema(example = 1, minimum = 0)]
    attempts: u32,
    /// Time of the next attempt. Null unless the state is `waiting`.
    #[schema(example = json!(null), format = DateTime)]
    next_attempt: Option<String>,
    /// Day for which the notification counts against the daily limit of the device, in the time zone of the account. Null
    /// if it is not counted.
    #[schema(example = "2026-05-01", format = Date)]
    counted_on: Option<String>,
    /// Number of SMS segments. 0 for an e-mail.
    #[schema(example = 0, minimum = 0)]
    segments: u32,
    /// Identifier that the provider assigned to the message. Null if there is none.
    #[schema(example = json!(null))]
    reference: Option<String>,
    /// Time at which the notification was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which the mail server or SMS provider accepted the message. Null if it did not.
    #[schema(example = "2026-05-01T12:00:01Z", format = DateTime)]
    sent_at: Option<String>,
    /// Time at which the message reached the telephone, as reported by the provider. Null if the provider did not
    /// report it.
    #[schema(example = json!(null), format = DateTime)]
    delivered_at: Option<String>,
}

/// Delivery state of a notification. `waiting`: to be sent, now or at `nextAttempt`. `sending`: counted and being
/// sent. `sent`: accepted by the mail server or SMS provider. `suppressed`: not sent on purpose; `reason` says why.
/// `failed`: not accepted, and not retried. `unclear`: it is unknown whether the message was accepted; it counts as
/// sent and is not retried.
#[derive(ToSchema)]
#[schema(as = NotificationState, rename_all = "lowercase")]
pub enum StateName {
    /// To be sent, now or after a pause.
    Waiting,
    /// Counted and being sent.
    Sending,
    /// Accepted by the mail server or SMS provider.
    Sent,
    /// Not sent on purpose; `reason` says why.
    Suppressed,
    /// Not accepted, and not retried.
    Failed,
    /// Unknown whether it was accepted. Counts as sent and is not retried.
    Unclear,
}

list! {
    /// A list of notifications.
    pub struct NotificationList;
    /// The notifications, newest first.
    notifications: NotificationView,
}

/// Response with one notification.
#[derive(Serialize, ToSchema)]
#[schema(as = OneNotification)]
pub struct NotificationAnswer {
    /// The requested notification.
    notification: NotificationView,
}

impl NotificationView {
    /// The notification with what the caller may see of it.
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
    let channels: Vec<_> = Channel::all().iter().map(|channel| (channel.name(), *channel)).collect();
    let (from, to) = (params.instant("from", zone), params.instant("to", zone));
    if from.zip(to).is_some_and(|(from, to)| to < from) {
        params.refuse("to", "The parameter \"to\" must not be before \"from\".");
    }
    NotificationFilter {
        device: None,
        alert: params.parsed::<AlertId>("alert", "the ID of an alert, such as \"alr_01jc2m8k4n5p9\""),
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

/// List notifications
///
/// Returns the notifications about all devices that are visible to the caller, newest first, with their delivery state.
/// A caller who sees the whole account also gets notifications that are about no device, such as overview reports. The
/// list is always returned in pages.
#[utoipa::path(get, path = "/api/notifications", tag = "notifications", params(
    ("device" = Option<String>, Query, description = "Only notifications about this device, by ID, identifier or name.", example = "dev_01jc2m8k4n5p7"),
    ("alert" = Option<String>, Query, description = "Only notifications about the alert with this ID.", example = "alr_01jc2m8k4n5p9"),
    ("state" = Option<StateName>, Query, description = "Only notifications in this state.", example = "failed"),
    ("channel" = Option<ChannelName>, Query, description = "Only notifications by this channel."),
    ("from" = Option<String>, Query, description = "Only notifications created at or after this time. Default: no lower bound.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "Only notifications created at or before this time. Default: no upper bound.", format = DateTime, example = "2026-05-02T00:00:00Z"),
    ("limit" = Option<u32>, Query, description = "Maximum number of notifications per page. Default: 100.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "The notifications, newest first.", body = NotificationList)))]
pub async fn list_notifications(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    let device = device_param(&app, &caller, &mut params, "device").await?;
    let filter = NotificationFilter { device, ..read_filter(&mut params, caller.zone()) };
    answer(&app, &caller, filter, params).await
}

/// List notifications of a device
///
/// Returns the notifications about one device, newest first, with their delivery state. The device must be visible to
/// the caller. The list is always returned in pages.
#[utoipa::path(get, path = "/api/devices/{deviceId}/notifications", tag = "notifications", params(
    ("alert" = Option<String>, Query, description = "Only notifications about the alert with this ID.", example = "alr_01jc2m8k4n5p9"),
    ("state" = Option<StateName>, Query, description = "Only notifications in this state.", example = "failed"),
    ("channel" = Option<ChannelName>, Query, description = "Only notifications by this channel."),
    ("from" = Option<String>, Query, description = "Only notifications created at or after this time. Default: no lower bound.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "Only notifications created at or before this time. Default: no upper bound.", format = DateTime, example = "2026-05-02T00:00:00Z"),
    ("limit" = Option<u32>, Query, description = "Maximum number of notifications per page. Default: 100.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "The notifications, newest first.", body = NotificationList)))]
pub async fn list_device_notifications(
    Call(app, caller): Call,
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

/// Retrieve a notification
///
/// Returns one notification with its delivery state. Its device must be visible to the caller.
#[utoipa::path(get, path = "/api/notifications/{notificationId}", tag = "notifications",
    responses((status = 200, description = "The notification with this ID.", body = NotificationAnswer)))]
pub async fn get_notification(
    Call(app, caller): Call,
    IdPath(id): IdPath<NotificationId>,
    params: Params,
) -> ApiReply<NotificationAnswer> {
    params.finish()?;
    let notification = NotificationView::of(find(&app, &caller, id).await?, &caller);
    Ok(caller.reply(NotificationAnswer { notification }))
}

/// Resend a notification
///
/// Queues a notification that is `suppressed`, `failed` or `unclear` to be sent again. Requires the privilege
/// `alerts.write`. The notification is counted again, and the limits apply, so that it may be suppressed again. A
/// notification that is `waiting` or `sending` is returned unchanged. If it is `sent`, the request fails with 409
/// `already-sent`.
#[utoipa::path(post, path = "/api/notifications/{notificationId}/resend", tag = "notifications",
    responses((status = 200, description = "The notification, queued again or unchanged.", body = NotificationAnswer)))]
pub async fn resend_notification(
    Call(app, caller): Call,
    IdPath(id): IdPath<NotificationId>,
    params: Params,
) -> ApiReply<NotificationAnswer> {
    params.finish()?;
    let message = find(&app, &caller, id).await?;
    caller.require(Privilege::AlertsWrite)?;
    let resent = app.store.resend_notification(&caller.actor(), message.id).await?;
    let notification = NotificationView::of(resent, &caller);
    Ok(caller.reply(NotificationAnswer { notification }))
}
