//! Notification settings of an account: which channels are enabled, and their caps.

use axum::extract::State;
use perigee_core::error::Kind;
use perigee_core::notification::{MessagingSettings, StoredMessaging};
use perigee_core::privilege::Privilege;
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

/// Which messages an account may send. The operator's settings apply as well; the stricter one counts.
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
    /// Maximum SMS segments per day; null if the account sets no cap.
    #[schema(example = 200)]
    sms_daily_segments: Option<u32>,
    /// Maximum SMS segments per calendar month; null if the account sets no cap.
    #[schema(example = 2000)]
    sms_monthly_segments: Option<u32>,
    /// Prefixes of phone numbers that SMS may be sent to; empty for all numbers.
    #[schema(example = json!(["+34", "+8816"]))]
    sms_prefixes: Vec<String>,
    /// Maximum e-mails per day; null if the account sets no cap.
    #[schema(example = 500)]
    email_daily: Option<u32>,
    /// Maximum e-mails to one recipient per hour; null if the account sets no cap.
    #[schema(example = 20)]
    email_recipient_hourly: Option<u32>,
    /// When it was last changed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: Option<String>,
}

input! {
    /// Settings of which messages an account may send.
    struct NotificationSettingsInput {
        /// Whether e-mails are sent; true if left out.
        email_enabled as "emailEnabled": bool, nullable, example true;
        /// Whether SMS are sent; true if left out.
        sms_enabled as "smsEnabled": bool, nullable, example true;
        /// Maximum SMS segments per day; no cap if left out, 0 to send none.
        sms_daily_segments as "smsDailySegments":
            Whole<0, { MessagingSettings::SEGMENTS_MAX }>, nullable, example 200;
        /// Maximum SMS segments per calendar month; no cap if left out, 0 to send none.
        sms_monthly_segments as "smsMonthlySegments":
            Whole<0, { MessagingSettings::SEGMENTS_MAX }>, nullable, example 2000;
        /// Prefixes of phone numbers that SMS may be sent to; all numbers if left out.
        sms_prefixes as "smsPrefixes": Prefixes, nullable, example ["+34", "+8816"];
        /// Maximum e-mails per day; no cap if left out. Critical alerts may exceed it.
        email_daily as "emailDaily": Whole<0, { MessagingSettings::EMAILS_MAX }>, nullable, example 500;
        /// Maximum e-mails to one recipient per hour; no cap if left out. Critical alerts may exceed it.
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
            is_valid
                .then_some(())
                .ok_or_else(|| "must be the beginning of an international number such as +34".into())
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

/// Read the notification settings.
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

/// Replace the notification settings.
///
/// They apply from the next message on. Messages that are not sent are recorded with the reason.
#[utoipa::path(put, path = "/api/account/notificationSettings", tag = "notifications",
    request_body = NotificationSettingsInput,
    responses((status = 200, description = "The notification settings after the change.", body = NotificationSettingsView)))]
pub async fn replace_notification_settings(
    State(app): State<App>,
    caller: Caller,
    change: Change,
) -> ApiResult<Reply<NotificationSettingsView>> {
    apply_change(&app, &caller, change).await
}

/// Change some of the notification settings.
#[utoipa::path(patch, path = "/api/account/notificationSettings", tag = "notifications",
    request_body = NotificationSettingsInput,
    responses((status = 200, description = "The notification settings after the change.", body = NotificationSettingsView)))]
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
