//! Notification settings of an account: which channels are enabled, and their caps.

use perigee_core::notifications::notification::{MessagingSettings, StoredMessaging};
use utoipa::openapi::{RefOr, Schema};

use crate::http::input::{Member, Set, Whole, array, text};
use crate::http::json::{Field, Fields};
use crate::http::prelude::*;

/// Notification settings of an account: which channels it uses, and how many messages it may send. If a setting of the
/// server is stricter, that one applies.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NotificationSettings)]
pub struct NotificationSettingsView {
    /// Whether the account sends notifications by e-mail.
    #[schema(example = true)]
    email_enabled: bool,
    /// Whether the account sends notifications by SMS.
    #[schema(example = true)]
    sms_enabled: bool,
    /// Maximum number of SMS segments that the account sends in a day, in its time zone. Null if the account sets no
    /// cap.
    #[schema(example = 200)]
    sms_daily_segments: Option<u32>,
    /// Maximum number of SMS segments that the account sends in a calendar month, in its time zone. Null if the account
    /// sets no cap.
    #[schema(example = 2000)]
    sms_monthly_segments: Option<u32>,
    /// Prefixes of telephone numbers that SMS may be sent to, such as `+34`. Empty if the account allows all numbers.
    #[schema(example = json!(["+34", "+8816"]))]
    sms_prefixes: Vec<String>,
    /// Maximum number of e-mails that the account sends in a day, in its time zone. E-mails about critical alerts may
    /// exceed it. Null if the account sets no cap.
    #[schema(example = 500)]
    email_daily: Option<u32>,
    /// Maximum number of e-mails that the account sends to one recipient in an hour. E-mails about critical alerts may
    /// exceed it. Null if the account sets no cap.
    #[schema(example = 20)]
    email_recipient_hourly: Option<u32>,
    /// Time at which the settings were last changed. Null if they were never changed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: Option<String>,
}

input! {
    /// Notification settings of an account: which channels it uses, and how many messages it may send.
    struct NotificationSettingsInput {
        /// Whether the account sends notifications by e-mail. Default: true.
        email_enabled as "emailEnabled": bool, nullable, example true;
        /// Whether the account sends notifications by SMS. Default: true.
        sms_enabled as "smsEnabled": bool, nullable, example true;
        /// Maximum number of SMS segments that the account sends in a day, in its time zone. 0 for no SMS. Default: no
        /// cap.
        sms_daily_segments as "smsDailySegments":
            Whole<0, { MessagingSettings::SEGMENTS_MAX }>, nullable, example 200;
        /// Maximum number of SMS segments that the account sends in a calendar month, in its time zone. 0 for no SMS.
        /// Default: no cap.
        sms_monthly_segments as "smsMonthlySegments":
            Whole<0, { MessagingSettings::SEGMENTS_MAX }>, nullable, example 2000;
        /// Prefixes of telephone numbers that SMS may be sent to, such as `+34`. Default: all numbers.
        sms_prefixes as "smsPrefixes": Prefixes, nullable, example ["+34", "+8816"];
        /// Maximum number of e-mails that the account sends in a day, in its time zone. E-mails about critical alerts
        /// may exceed it. Default: no cap.
        email_daily as "emailDaily": Whole<0, { MessagingSettings::EMAILS_MAX }>, nullable, example 500;
        /// Maximum number of e-mails that the account sends to one recipient in an hour. E-mails about critical alerts
        /// may exceed it. Default: no cap.
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
    caller.reply_at(stored.revision, NotificationSettingsView::from(stored))
}

/// Retrieve the notification settings
///
/// Returns whether e-mail and SMS are enabled for the account, and the maximum number of messages that it sends by
/// each. Requires a caller who sees the whole account.
#[utoipa::path(get, path = "/api/account/notificationSettings", tag = "notifications",
    responses((status = 200, description = "The notification settings.", body = NotificationSettingsView)))]
pub async fn get_notification_settings(
    Call(app, caller): Call,
    params: Params,
) -> ApiReply<NotificationSettingsView> {
    params.finish()?;
    caller.require_whole_account()?;
    Ok(answer(&caller, app.store.get_notification_settings(caller.scope()).await?))
}

change_handlers! {
    path: "/api/account/notificationSettings", tag: "notifications", body: NotificationSettingsInput, answer: NotificationSettingsView, "The updated notification settings.";
    /// Replace the notification settings
    ///
    /// Sets all notification settings of the account; members that are left out get their defaults. Requires the
    /// privilege `admin` and a caller who sees the whole account. The settings apply from the next notification on.
    /// Notifications that are not sent because of them are recorded as `suppressed`, with the reason.
    replace_notification_settings,
    /// Update the notification settings
    ///
    /// Changes the members that the body contains and keeps the others. Requires the privilege `admin` and a caller who
    /// sees the whole account. The settings apply from the next notification on.
    update_notification_settings => apply_change()
}

/// Applies a PUT or PATCH to the stored settings.
async fn apply_change(Call(app, caller): Call, change: Change) -> ApiReply<NotificationSettingsView> {
    caller.require_whole_account()?;
    let stored = retry_changed(&change.preconditions, || async {
        let current = app.store.get_notification_settings(caller.scope()).await?;
        caller.require(Privilege::Admin)?;
        change.preconditions.check(Kind::Messaging, current.revision)?;
        let revision = current.revision;
        let settings = read_settings(&change.apply(&NotificationSettingsView::from(current)).await?)?;
        Ok(app.store.replace_messaging(&caller.actor(), revision, settings).await)
    })
    .await?;
    Ok(answer(&caller, stored))
}
