//! Notification settings of an account: which channels are enabled, and their caps.

use axum::extract::State;
use perigee_core::error::Kind;
use perigee_core::notification::{MessagingSettings, StoredMessaging};
use perigee_core::privilege::Privilege;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::app::App;
use crate::http::edit::{ENVELOPE, retry_changed};
use crate::http::error::{ApiResult, invalid_body};
use crate::http::extract::{Caller, Change, Params};
use crate::http::json::Fields;
use crate::http::reply::Reply;

/// What an account allows to be sent. The operator's caps and switches hold beside it; the stricter wins.
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
    /// Segments of SMS a day; null for no cap of the account's own.
    #[schema(example = 200, maximum = 100_000_000)]
    sms_daily_segments: Option<u32>,
    /// Segments of SMS a calendar month; null for no cap of the account's own.
    #[schema(example = 2000, maximum = 100_000_000)]
    sms_monthly_segments: Option<u32>,
    /// Beginnings of numbers that SMS may go to; all when empty.
    #[schema(example = json!(["+34", "+8816"]), max_items = 300)]
    sms_prefixes: Vec<String>,
    /// E-mails a day; null for no cap of the account's own.
    #[schema(example = 500, maximum = 100_000_000)]
    email_daily: Option<u32>,
    /// E-mails to one recipient an hour; null for no cap of the account's own.
    #[schema(example = 20, maximum = 100_000_000)]
    email_recipient_hourly: Option<u32>,
    /// When it was last changed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: Option<String>,
}

/// What a client sets of what an account allows to be sent.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read")]
pub struct NotificationSettingsInput {
    /// Whether e-mails are sent; they are unless given.
    #[schema(example = true)]
    email_enabled: Option<bool>,
    /// Whether SMS are sent; they are unless given.
    #[schema(example = true)]
    sms_enabled: Option<bool>,
    /// Segments of SMS a day; no cap unless given, 0 for none at all.
    #[schema(example = 200, maximum = 100_000_000)]
    sms_daily_segments: Option<u32>,
    /// Segments of SMS a calendar month; no cap unless given, 0 for none at all.
    #[schema(example = 2000, maximum = 100_000_000)]
    sms_monthly_segments: Option<u32>,
    /// Beginnings of numbers that SMS may go to; all unless given.
    #[schema(example = json!(["+34", "+8816"]), max_items = 300)]
    sms_prefixes: Option<Vec<String>>,
    /// E-mails a day; no cap unless given. Critical alerts pass it.
    #[schema(example = 500, maximum = 100_000_000)]
    email_daily: Option<u32>,
    /// E-mails to one recipient an hour; no cap unless given. Critical alerts pass it.
    #[schema(example = 20, maximum = 100_000_000)]
    email_recipient_hourly: Option<u32>,
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
    let mut fields = Fields::of(body).map_err(invalid_body)?;
    fields.ignore(ENVELOPE);
    fields.ignore(&["lastModified"]);
    let email_on = fields.boolean("emailEnabled").nullable().unwrap_or(true);
    let sms_on = fields.boolean("smsEnabled").nullable().unwrap_or(true);
    let segments = 0..=MessagingSettings::SEGMENTS_MAX;
    let sms_daily_segments = fields.integer("smsDailySegments", segments.clone()).nullable();
    let sms_monthly_segments = fields.integer("smsMonthlySegments", segments).nullable();
    let prefixes = fields.array::<String>("smsPrefixes", 0..=MessagingSettings::PREFIXES_MAX).unique();
    let prefixes = prefixes.each(|prefix| {
        let known = MessagingSettings::is_prefix(prefix);
        known
            .then_some(())
            .ok_or_else(|| "must be the beginning of an international number such as +34".into())
    });
    let sms_prefixes = prefixes.nullable().unwrap_or_default();
    let emails = 0..=MessagingSettings::EMAILS_MAX;
    let email_daily = fields.integer("emailDaily", emails.clone()).nullable();
    let email_recipient_hourly = fields.integer("emailRecipientHourly", emails).nullable();
    let settings = fields.finish(|| {
        Some(MessagingSettings {
            email_on,
            sms_on,
            sms_daily_segments,
            sms_monthly_segments,
            sms_prefixes,
            email_daily,
            email_recipient_hourly,
        })
    });
    settings.map_err(invalid_body)
}

fn answer(caller: &Caller, stored: StoredMessaging) -> Reply<NotificationSettingsView> {
    let revision = stored.revision;
    caller.reply(NotificationSettingsView::from(stored)).revision(revision)
}

/// Read what the account allows to be sent.
#[utoipa::path(get, path = "/api/account/notificationSettings", tag = "notifications",
    responses((status = 200, description = "What is allowed.", body = NotificationSettingsView)))]
pub async fn get_notification_settings(
    State(app): State<App>,
    caller: Caller,
    params: Params,
) -> ApiResult<Reply<NotificationSettingsView>> {
    params.finish()?;
    caller.require_whole_account()?;
    Ok(answer(&caller, app.store.find_messaging(caller.scope()).await?))
}

/// Set what the account allows to be sent.
///
/// It takes effect with the next message. What is not sent is recorded.
#[utoipa::path(put, path = "/api/account/notificationSettings", tag = "notifications",
    request_body = NotificationSettingsInput,
    responses((status = 200, description = "What is allowed now.", body = NotificationSettingsView)))]
pub async fn replace_notification_settings(
    State(app): State<App>,
    caller: Caller,
    wanted: Change,
) -> ApiResult<Reply<NotificationSettingsView>> {
    change(&app, &caller, wanted).await
}

/// Change part of what the account allows to be sent.
#[utoipa::path(patch, path = "/api/account/notificationSettings", tag = "notifications",
    request_body = NotificationSettingsInput,
    responses((status = 200, description = "What is allowed now.", body = NotificationSettingsView)))]
pub async fn update_notification_settings(
    State(app): State<App>,
    caller: Caller,
    wanted: Change,
) -> ApiResult<Reply<NotificationSettingsView>> {
    change(&app, &caller, wanted).await
}

async fn change(app: &App, caller: &Caller, change: Change) -> ApiResult<Reply<NotificationSettingsView>> {
    caller.require_whole_account()?;
    let stored = retry_changed(&change.preconditions, || async {
        let present = app.store.find_messaging(caller.scope()).await?;
        caller.require(Privilege::Admin)?;
        change.preconditions.check(Kind::Messaging, present.revision)?;
        let seen = present.revision;
        let wanted = read_settings(&change.apply(&NotificationSettingsView::from(present)).await?)?;
        Ok(app.store.replace_messaging(&caller.actor(), seen, wanted).await)
    })
    .await?;
    Ok(answer(caller, stored))
}
