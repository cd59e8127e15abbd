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
use crate::http::input::{Member, Set, Whole, input, read_body};
use crate::http::json::{Field, Fields};
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
    #[schema(example = 200)]
    sms_daily_segments: Option<u32>,
    /// Segments of SMS a calendar month; null for no cap of the account's own.
    #[schema(example = 2000)]
    sms_monthly_segments: Option<u32>,
    /// Beginnings of numbers that SMS may go to; all when empty.
    #[schema(example = json!(["+34", "+8816"]))]
    sms_prefixes: Vec<String>,
    /// E-mails a day; null for no cap of the account's own.
    #[schema(example = 500)]
    email_daily: Option<u32>,
    /// E-mails to one recipient an hour; null for no cap of the account's own.
    #[schema(example = 20)]
    email_recipient_hourly: Option<u32>,
    /// When it was last changed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: Option<String>,
}

input! {
    /// What a client sets of what an account allows to be sent.
    struct NotificationSettingsInput {
        /// Whether e-mails are sent; they are unless given.
        email_enabled as "emailEnabled": bool, nullable, example true;
        /// Whether SMS are sent; they are unless given.
        sms_enabled as "smsEnabled": bool, nullable, example true;
        /// Segments of SMS a day; no cap unless given, 0 for none at all.
        sms_daily_segments as "smsDailySegments":
            Whole<0, { MessagingSettings::SEGMENTS_MAX }>, nullable, example 200;
        /// Segments of SMS a calendar month; no cap unless given, 0 for none at all.
        sms_monthly_segments as "smsMonthlySegments":
            Whole<0, { MessagingSettings::SEGMENTS_MAX }>, nullable, example 2000;
        /// Beginnings of numbers that SMS may go to; all unless given.
        sms_prefixes as "smsPrefixes": Prefixes, nullable, example ["+34", "+8816"];
        /// E-mails a day; no cap unless given. Critical alerts pass it.
        email_daily as "emailDaily": Whole<0, { MessagingSettings::EMAILS_MAX }>, nullable, example 500;
        /// E-mails to one recipient an hour; no cap unless given. Critical alerts pass it.
        email_recipient_hourly as "emailRecipientHourly":
            Whole<0, { MessagingSettings::EMAILS_MAX }>, nullable, example 20;
    }
}

/// Beginnings of international numbers.
enum Prefixes {}

impl Member for Prefixes {
    type Value = Vec<String>;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Vec<String>> {
        Set::<String, 0, { MessagingSettings::PREFIXES_MAX }>::read(fields, name).each(|prefix| {
            let known = MessagingSettings::is_prefix(prefix);
            known
                .then_some(())
                .ok_or_else(|| "must be the beginning of an international number such as +34".into())
        })
    }

    fn schema() -> RefOr<Schema> {
        Set::<String, 0, { MessagingSettings::PREFIXES_MAX }>::schema()
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
