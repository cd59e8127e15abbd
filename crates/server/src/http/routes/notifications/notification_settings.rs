//! Notification settings of an account: which channels are enabled, and their caps.

use axum::extract::State;
use perigee_core::access::privilege::Privilege;
use perigee_core::error::Kind;
use perigee_core::notifications::notification::{MessagingSettings, StoredMessaging};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use crate::app::App;
use crate::http::edit::{ENVELOPE, retry_changed};
use crate::http::error::ApiResult;
use crate::http::extract::{Caller, Change, Params};
use crate::http::input::{Member, Set, Whole, array, input, read_body, text};
use crate::http::json::{Field, Fields};
use crate::http::reply::Reply;

/// Limits on the notifications of an account. The settings of the server apply as well; the stricter limit wins.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NotificationSettings)]
pub struct NotificationSettingsView {
    /// Whether e-mails are sent.
    #[schema(example = true)]
    email_enabled: bool,
    /// Whether SMS are sent.
    #[schema(example = true)]
    sms_enabled: bool,
    /// Maximum SMS segments per day of the account. Null if the account sets no cap.
    #[schema(example = 200)]
    sms_daily_segments: Option<u32>,
    /// Maximum SMS segments per calendar month. Null if the account sets no cap.
    #[schema(example = 2000)]
    sms_monthly_segments: Option<u32>,
    /// Prefixes of telephone numbers that SMS may be sent to, such as `+34`. Empty if the account allows all numbers.
    #[schema(example = json!(["+34", "+8816"]))]
    sms_prefixes: Vec<String>,
    /// Maximum e-mails per day of the account. Critical alerts may exceed it. Null if the account sets no cap.
    #[schema(example = 500)]
    email_daily: Option<u32>,
    /// Maximum e-mails to one recipient per hour. Critical alerts may exceed it. Null if the account sets no cap.
    #[schema(example = 20)]
    email_recipient_hourly: Option<u32>,
    /// Time at which the settings were last changed. Null if they were never changed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: Option<String>,
}

input! {
    /// Limits on the notifications of an account.
    struct NotificationSettingsInput {
        /// Whether e-mails are sent. Default: true.
        email_enabled as "emailEnabled": bool, nullable, example true;
        /// Whether SMS are sent. Default: true.
        sms_enabled as "smsEnabled": bool, nullable, example true;
        /// Maximum SMS segments per day of the account. 0 for no SMS. Default: no cap.
        sms_daily_segments as "smsDailySegments":
            Whole<0, { MessagingSettings::SEGMENTS_MAX }>, nullable, example 200;
        /// Maximum SMS segments per calendar month. 0 for no SMS. Default: no cap.
        sms_monthly_segments as "smsMonthlySegments":
            Whole<0, { MessagingSettings::SEGMENTS_MAX }>, nullable, example 2000;
        /// Prefixes of telephone numbers that SMS may be sent to, such as `+34`. Default: all numbers.
        sms_prefixes as "smsPrefixes": Prefixes, nullable, example ["+34", "+8816"];
        /// Maximum e-mails per day of the account. Critical alerts may exceed it. Default: no cap.
        email_daily as "emailDaily": Whole<0, { MessagingSettings::EMAILS_MAX }>, nullable, example 500;
        /// Maximum e-mails to one recipient per hour. Critical alerts may exceed it. Default: no cap.
        email_recipient_hourly as "emailRecipientHourly":
            Whole<0, { MessagingSettings::EMAILS_MAX }>, nullable, example 20;
    }
}

/// The type of a member in `input!`, never constructed: a set of prefixes of international phone numbers.
enum Prefixes {}

impl Member for Prefixes {
    type Value = Vec<String>;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Vec<String>> {
        Set::<String, 0, { MessagingSettings::PREFIXES_MAX }>::read(fields, name).each(|prefix| {
            let is_valid = MessagingSettings::is_prefix(prefix);
            is_valid.then_some(()).ok_or_else(|| {
                "must be a prefix of a telephone number in international form, such as +34".into()
            })
        })
    }

    fn schema() -> RefOr<Schema> {
        let prefix = text(2, 16, |text| text.pattern(Some("^[+][0-9]{1,15}$")));
        array(prefix, 0, MessagingSettings::PREFIXES_MAX, true)
    }
}

impl From<StoredMessaging> for NotificationSettingsView {
    fn from(stored: StoredMessaging) -> Self {
        Self {
            email_enabled: stored.settings.email_on,
            sms_enabled: stored.settings.sms_on,
            sms_daily_segments: stored.settings.sms_daily_segments,
            sms_monthly_segments: stored.settings.sms_monthly_segments,
            sms_prefixes: stored.settings.sms_prefixes,
            email_daily: stored.settings.email_daily,
            email_recipient_hourly: stored.settings.email_recipient_hourly,
            last_modified: stored.last_modified.map(|at| at.to_string()),
        }
    }
}

fn read_settings(body: &Value) -> ApiResult<MessagingSettings> {
    read_body(body, &[ENVELOPE, &["lastModified"]], |input: NotificationSettingsInput, _| {
        Some(MessagingSettings {
            email_on: input.email_enabled.unwrap_or(true),
            sms_on: input.sms_enabled.unwrap_or(true),
            sms_daily_segments: input.sms_daily_segments,
            sms_monthly_segments: input.sms_monthly_segments,
            sms_prefixes: input.sms_prefixes.unwrap_or_default(),
            email_daily: input.email_daily,
            email_recipient_hourly: input.email_recipient_hourly,
        })
    })
}

fn answer(caller: &Caller, stored: StoredMessaging) -> Reply<NotificationSettingsView> {
    let revision = stored.revision;
    caller.reply(NotificationSettingsView::from(stored)).revision(revision)
}

/// Retrieve the notification settings
///
/// Returns which channels the account uses, and its caps. The caller must see the whole account.
#[utoipa::path(get, path = "/api/account/notificationSettings", tag = "notifications",
    responses((status = 200, description = "The notification settings.", body = NotificationSettingsView)))]
pub async fn get_notification_settings(
    State(app): State<App>,
    caller: Caller,
    params: Params,
) -> ApiResult<Reply<NotificationSettingsView>> {
    params.finish()?;
    caller.require_whole_account()?;
    Ok(answer(&caller, app.store.find_messaging(caller.scope()).await?))
}

/// Replace the notification settings
///
/// Sets all notification settings of the account; members that are left out get their defaults. The caller needs
/// `admin` and must see the whole account. The settings apply from the next notification on. Notifications that are
/// not sent because of them are recorded as `suppressed`, with the reason.
#[utoipa::path(put, path = "/api/account/notificationSettings", tag = "notifications",
    request_body = NotificationSettingsInput,
    responses((status = 200, description = "The notification settings, updated.", body = NotificationSettingsView)))]
pub async fn replace_notification_settings(
    State(app): State<App>,
    caller: Caller,
    change: Change,
) -> ApiResult<Reply<NotificationSettingsView>> {
    apply_change(&app, &caller, change).await
}

/// Update the notification settings
///
/// Changes the members that the body contains and keeps the others. The caller needs `admin` and must see the whole
/// account. The settings apply from the next notification on.
#[utoipa::path(patch, path = "/api/account/notificationSettings", tag = "notifications",
    request_body = NotificationSettingsInput,
    responses((status = 200, description = "The notification settings, updated.", body = NotificationSettingsView)))]
pub async fn update_notification_settings(
    State(app): State<App>,
    caller: Caller,
    change: Change,
) -> ApiResult<Reply<NotificationSettingsView>> {
    apply_change(&app, &caller, change).await
}

/// Applies a PUT or PATCH to the stored settings.
async fn apply_change(
    app: &App,
    caller: &Caller,
    change: Change,
) -> ApiResult<Reply<NotificationSettingsView>> {
    caller.require_whole_account()?;
    let stored = retry_changed(&change.preconditions, || async {
        let current = app.store.find_messaging(caller.scope()).await?;
        caller.require(Privilege::Admin)?;
        change.preconditions.check(Kind::Messaging, current.revision)?;
        let revision = current.revision;
        let settings = read_settings(&change.apply(&NotificationSettingsView::from(current)).await?)?;
        Ok(app.store.replace_messaging(&caller.actor(), revision, settings).await)
    })
    .await?;
    Ok(answer(caller, stored))
}
