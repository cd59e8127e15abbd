//! Who would be told of an alert of a device, and test messages to them.

use axum::extract::State;
use perigee_core::device::Device;
use perigee_core::error::Kind;
use perigee_core::id::RuleId;
use perigee_core::notification::{
    Audience, Channel, EmailCaps, EmailConsent, MessagingSettings, Notice, Quota, SendingPolicy, Source,
    SuppressedReason,
};
use perigee_core::privilege::Privilege;
use perigee_core::severity::Severity;
use serde::Serialize;
use utoipa::ToSchema;

use super::alert_routing::view::RoutedWebhookView;
use super::alerts::view::{ChannelName, SeverityName};
use crate::app::App;
use crate::config::SmsGateway;
use crate::http::error::{ApiError, ApiResult, not_found};
use crate::http::error_code::ErrorCode;
use crate::http::extract::{Caller, DevicePath, Params};
use crate::http::reply::Reply;
use crate::http::routes::devices::find_device;
use crate::http::schedule::ScheduleView;

/// Everybody who may be told of an alert of a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AlertRecipients)]
pub struct AlertRecipientsView {
    /// One entry for each address, whoever names it.
    recipients: Vec<AlertRecipientView>,
    /// The webhooks that get the alert.
    webhooks: Vec<RoutedWebhookView>,
    /// Whether an alert of the asked severity would reach nobody now: no recipient without a problem, and no webhook.
    #[schema(example = false)]
    nobody: bool,
}

/// Somebody who may be told of an alert of a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AlertRecipient)]
pub struct AlertRecipientView {
    /// How they are reached: `email` or `sms`.
    #[schema(value_type = ChannelName, example = "email")]
    channel: &'static str,
    /// An e-mail address, or a telephone number in international form.
    #[schema(example = "ana@example.com")]
    address: String,
    /// What they are called, if it is known.
    #[schema(example = "Ana")]
    name: Option<String>,
    /// What names them: `rule`, `device`, `group`, `account` or `watchList`.
    #[schema(value_type = Vec<String>, example = json!(["account"]), max_items = 5)]
    named_by: Vec<&'static str>,
    /// They are told of alerts that matter at least so much.
    #[schema(value_type = SeverityName, example = "warning")]
    minimum_severity: &'static str,
    /// When they are told; null for always.
    schedule: Option<ScheduleView>,
    /// Why an alert of the asked severity would not reach them now: `severity`, or a `reason` of a suppressed message such
    /// as `schedule`, `channel-off` or `limit`; null if it would.
    #[schema(example = json!(null))]
    problem: Option<&'static str>,
}

/// How many test messages were written.
#[derive(Serialize, ToSchema)]
#[schema(as = TestMessages)]
pub struct TestMessagesView {
    /// Messages to send, one for each address. `GET /api/notifications` tells what becomes of them.
    #[schema(example = 2, minimum = 0)]
    messages: usize,
}

/// The settings that decide whether a message would be sent, as far as that is known before it is written.
struct SendingCheck {
    policy: SendingPolicy,
    settings: MessagingSettings,
    confirms: bool,
}

impl SendingCheck {
    async fn of(app: &App, caller: &Caller) -> ApiResult<Self> {
        let config = &app.config;
        let prefixes = config.sms.allowed().map(|allowed| allowed.prefixes()).unwrap_or_default();
        let policy = SendingPolicy {
            email_on: config.notifications.is_on(Channel::Email) && !config.email.host.is_empty(),
            sms_on: config.notifications.is_on(Channel::Sms) && config.sms.gateway != SmsGateway::None,
            sms_daily_segments: None,
            sms_monthly_segments: None,
            sms_prefixes: prefixes,
            email_caps: EmailCaps::default(),
            confirm_recipients: config.notifications.confirm_recipients,
            lease_ms: 0,
        };
        let settings = app.store.find_messaging(caller.scope()).await?.settings;
        Ok(Self { policy, settings, confirms: config.notifications.confirm_recipients })
    }

    /// Why a message of a device would not reach an address, if so.
    fn problem(
        &self,
        device: &Device,
        (channel, address): (Channel, &str),
        consent: EmailConsent,
        severity: Severity,
    ) -> Option<&'static str> {
        let limits = &device.settings.limits;
        let (limit, used) = match channel {
            Channel::Email => (limits.daily_emails, device.counters.emails_sent),
            Channel::Sms => (limits.daily_sms, device.counters.sms_sent),
        };
        let quota = Quota { limit, reserve: limits.critical_reserve, used };
        let refused = || {
            if channel != Channel::Email {
                None
            } else if consent.unsubscribed_at.is_some() {
                Some(SuppressedReason::Unsubscribed)
            } else if self.confirms && !consent.is_confirmed() {
                Some(SuppressedReason::Unconfirmed)
            } else {
                None
            }
        };
        let reason = self.policy.forbids(&self.settings, channel, address);
        let reason = reason.or_else(refused).or_else(|| quota.refuses(severity == Severity::Critical));
        reason.map(SuppressedReason::name)
    }
}

async fn view(
    app: &App,
    caller: &Caller,
    device: &Device,
    audience: &Audience,
    severity: Severity,
) -> ApiResult<AlertRecipientsView> {
    let check = SendingCheck::of(app, caller).await?;
    let (now, zone) = (caller.now(), &caller.account().settings.time_zone);
    let addressees = audience.addressees(now, zone);
    let named = addressees.iter().map(|one| one.address.to_owned()).collect();
    let consents = app.store.list_email_consents(caller.scope(), named).await?;
    let mut recipients = Vec::with_capacity(addressees.len());
    for (addressee, consent) in addressees.iter().zip(consents) {
        let same = audience.recipients.iter().filter(|(_, recipient)| {
            recipient.destination.channel() == addressee.channel
                && recipient.destination.as_str().eq_ignore_ascii_case(addressee.address)
        });
        let mut named_by: Vec<_> = same.clone().map(|(source, _)| *source).collect();
        named_by.sort_unstable();
        named_by.dedup();
        let notice = addressee.notice(severity);
        let first = same.map(|(_, recipient)| recipient).next();
        let Some(shown) = notice.map(Notice::recipient).or(first) else { continue };
        let problem = match notice {
            None => Some("severity"),
            Some(Notice::OutsideSchedule(_)) => Some(SuppressedReason::Schedule.name()),
            Some(Notice::Now(_)) => {
                check.problem(device, (addressee.channel, addressee.address), consent, severity)
            }
        };
        recipients.push(AlertRecipientView {
            channel: addressee.channel.name(),
            address: addressee.address.to_owned(),
            name: shown.preferences.name.clone(),
            named_by: named_by.into_iter().map(Source::name).collect(),
            minimum_severity: shown.minimum_severity.name(),
            schedule: shown.schedule.clone().map(ScheduleView::from),
            problem,
        });
    }
    let nobody = recipients.iter().all(|one| one.problem.is_some())
        && audience.webhooks_at(severity, now, zone).is_empty();
    let webhooks = audience.webhooks.iter().cloned().map(RoutedWebhookView::from).collect();
    Ok(AlertRecipientsView { recipients, webhooks, nobody })
}

async fn read_rule(app: &App, caller: &Caller, params: &mut Params) -> ApiResult<Option<RuleId>> {
    let rule = params.parsed("rule", "a rule's id such as rul_01jc2m8k4n5p6");
    if let Some(rule) = rule
        && app.store.find_rule(caller.scope(), rule).await?.is_none()
    {
        return Err(not_found(Kind::Rule));
    }
    Ok(rule)
}

/// List who would be told of an alert of a device.
///
/// Everybody whom the routing in force, the rule and watch lists name, and why a message would not reach them now.
#[utoipa::path(get, path = "/api/devices/{deviceId}/alertRecipients", tag = "notifications", params(
    ("deviceId" = String, Path, description = "The device's id or identifier.", example = "dev_01jc2m8k4n5p7"),
    ("rule" = Option<String>, Query, description = "Of an alert that this rule raised, by its id.", example = "rul_01jc2m8k4n5p6"),
    ("severity" = Option<SeverityName>, Query, description = "Of an alert that matters so much; critical unless given."),
), responses((status = 200, description = "Who would be told.", body = AlertRecipientsView)))]
pub async fn list_alert_recipients(
    State(app): State<App>,
    caller: Caller,
    DevicePath(device): DevicePath,
    mut params: Params,
) -> ApiResult<Reply<AlertRecipientsView>> {
    let severity = params.word("severity", &Severity::ALL.map(|severity| (severity.name(), severity)));
    let device = find_device(&app, &caller, device.as_ref()).await?;
    let rule = read_rule(&app, &caller, &mut params).await?;
    params.finish()?;
    let audience = app.store.find_audience(caller.scope(), device.id, rule).await?;
    let body = view(&app, &caller, &device, &audience, severity.unwrap_or(Severity::Critical)).await?;
    Ok(caller.reply(body))
}

/// Send a test message to everybody who would be told of an alert of a device.
///
/// To people of escalation steps too; webhooks have a test of their own. At most 200 messages an hour. Needs
/// `devices.write`.
#[utoipa::path(post, path = "/api/devices/{deviceId}/alertRecipients/test", tag = "notifications", params(
    ("deviceId" = String, Path, description = "The device's id or identifier.", example = "dev_01jc2m8k4n5p7"),
    ("rule" = Option<String>, Query, description = "Also to those whom this rule names, by its id.", example = "rul_01jc2m8k4n5p6"),
), responses((status = 200, description = "The messages were written and are sent now.", body = TestMessagesView)))]
pub async fn test_alert_recipients(
    State(app): State<App>,
    caller: Caller,
    DevicePath(device): DevicePath,
    mut params: Params,
) -> ApiResult<Reply<TestMessagesView>> {
    let device = find_device(&app, &caller, device.as_ref()).await?;
    let rule = read_rule(&app, &caller, &mut params).await?;
    params.finish()?;
    caller.require(Privilege::DevicesWrite)?;
    let written = app.store.send_test_messages(&caller.actor(), device.id, rule).await?;
    let messages = written.ok_or_else(|| {
        ApiError::new(ErrorCode::RateLimited, "Too many test messages. Wait an hour and try again.")
    })?;
    Ok(caller.reply(TestMessagesView { messages }))
}
