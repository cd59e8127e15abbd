//! Recipients of an alert of a device, and test messages to them.

use std::collections::{BTreeMap, HashSet};

use perigee_core::access::actor::Reach;
use perigee_core::alerts::severity::Severity;
use perigee_core::devices::device::Device;
use perigee_core::id::RuleId;
use perigee_core::notifications::notification::{
    Audience, Channel, EmailCaps, EmailConsent, MessagingSettings, Notice, Quota, SendingPolicy, Source,
    SuppressedReason,
};
use perigee_core::notifications::routing::{AlertRouting, RoutingHolder};
use perigee_core::rules::rule::Rule;

use crate::http::hidden_address::{hidden, is_visible};
use crate::http::prelude::*;
use crate::http::routes::alerts::view::{ChannelName, SeverityName};
use crate::http::routes::devices::find_device;
use crate::http::routes::notifications::alert_routing::named_addresses;
use crate::http::routes::notifications::alert_routing::view::RoutedWebhookView;
use crate::http::schedule::ScheduleView;

/// Recipients of an alert of a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AlertRecipients)]
pub struct AlertRecipientsView {
    /// Recipients by address, one entry for each address, even if several sources name it.
    recipients: Vec<AlertRecipientView>,
    /// Webhooks that the alert is sent to.
    webhooks: Vec<RoutedWebhookView>,
    /// Whether an alert of the requested severity would reach nobody now: every recipient has a problem, and no
    /// webhook gets it.
    #[schema(example = false)]
    nobody: bool,
}

/// A recipient of an alert of a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AlertRecipient)]
pub struct AlertRecipientView {
    /// Channel by which the recipient is notified.
    #[schema(value_type = ChannelName, example = "email")]
    channel: &'static str,
    /// Address in the format of the channel. Callers who see only a group or a device get only
    /// the first characters, such as `a***`, of addresses that neither the routing of that group or device nor the
    /// rule names, unless it is their own address.
    #[schema(example = "ana@example.com")]
    address: String,
    /// Name of the recipient. Null if it is unknown or the address is hidden.
    #[schema(example = "Ana")]
    name: Option<String>,
    /// Sources that name the recipient. `rule`: the rule. `device`: the routing of the device. `group`: the routing
    /// of a group of the device. `account`: the routing of the account. `watchList`: the watch list of a user.
    #[schema(value_type = Vec<String>, example = json!(["account"]), max_items = 5)]
    named_by: Vec<&'static str>,
    /// Only alerts of this severity or higher are sent to the recipient.
    #[schema(value_type = SeverityName, example = "warning")]
    minimum_severity: &'static str,
    /// Hours in which the recipient is notified. Null for always.
    schedule: Option<ScheduleView>,
    /// Reason why an alert of the requested severity would not reach the recipient now: `severity` if the severity is
    /// too low, or a `reason` of a suppressed notification such as `schedule`, `channel-off` or `limit`. Null if the
    /// alert would reach the recipient.
    #[schema(example = json!(null))]
    problem: Option<&'static str>,
}

/// Result of sending test messages.
#[derive(Serialize, ToSchema)]
#[schema(as = TestMessages)]
pub struct TestMessagesView {
    /// Number of test messages that were queued, one for each address. `GET /api/notifications` shows their delivery
    /// state.
    #[schema(example = 2, minimum = 0)]
    messages: usize,
}

/// The settings that decide whether a message would be sent, as far as they are known before it is queued.
struct SendingCheck {
    policy: SendingPolicy,
    settings: MessagingSettings,
}

impl SendingCheck {
    async fn of(app: &App, caller: &Caller) -> ApiResult<Self> {
        let config = &app.config;
        let prefixes = config.sms.allowed().map(|allowed| allowed.prefixes()).unwrap_or_default();
        let policy = SendingPolicy {
            on: config.channels_on(),
            caps: BTreeMap::new(),
            sms_prefixes: prefixes,
            email_caps: EmailCaps::default(),
            confirmation: config.notifications.confirmation(),
            lease_ms: 0,
        };
        let settings = app.store.get_notification_settings(caller.scope()).await?.settings;
        Ok(Self { policy, settings })
    }

    /// Why a message of a device would not reach an address, if so.
    fn problem(
        &self,
        device: &Device,
        (channel, address): (Channel, &str),
        (consent, must_confirm): (EmailConsent, bool),
        severity: Severity,
    ) -> Option<&'static str> {
        let limits = &device.settings.limits;
        let (limit, used) = (limits.daily_limit(channel), device.counters.by(channel).messages);
        let quota = Quota { limit, reserve: limits.critical_reserve, used };
        let refused = || {
            if channel != Channel::EMAIL {
                None
            } else if consent.unsubscribed_at.is_some() {
                Some(SuppressedReason::Unsubscribed)
            } else if must_confirm {
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

/// The addresses that a user of one group or device can read elsewhere: those in the routing of that group or of the
/// device, and in the rule. `None` for users who see the whole account.
async fn readable(
    app: &App,
    caller: &Caller,
    device: &Device,
    rule: Option<&Rule>,
) -> ApiResult<Option<HashSet<String>>> {
    let scope = caller.scope();
    let mut holders = vec![RoutingHolder::Device(device.id)];
    match scope.reach {
        Reach::Account => return Ok(None),
        Reach::Group(group) => holders.push(RoutingHolder::Group(group)),
        Reach::Device(_) => {}
    }
    let mut routings: Vec<AlertRouting> = Vec::new();
    for holder in holders {
        routings.extend(app.store.get_routing(scope, holder).await?.routing);
    }
    routings.extend(rule.map(|rule| rule.settings.routing.clone()));
    let named = routings.iter().flat_map(named_addresses);
    Ok(Some(named.map(|(address, _)| address.as_str().to_lowercase()).collect()))
}

async fn view(
    app: &App,
    caller: &Caller,
    device: &Device,
    (audience, readable): (&Audience, Option<HashSet<String>>),
    severity: Severity,
) -> ApiResult<AlertRecipientsView> {
    let check = SendingCheck::of(app, caller).await?;
    let (now, zone) = (caller.now(), &caller.account().settings.time_zone);
    let addressees = audience.addressees(now, zone);
    let named = addressees.iter().map(|one| one.address.to_owned()).collect();
    let (consents, admitted) = app.store.list_email_consents(caller.scope(), named).await?;
    let is_email: Vec<bool> = addressees.iter().map(|one| one.channel == Channel::EMAIL).collect();
    let emails: Vec<EmailConsent> = consents
        .iter()
        .zip(&is_email)
        .filter(|(_, is_email)| **is_email)
        .map(|(consent, _)| *consent)
        .collect();
    let to_confirm = check.policy.confirmation.to_ask(&emails, admitted);
    let mut email_indices = 0..;
    let mut recipients = Vec::with_capacity(addressees.len());
    for (addressee, consent) in addressees.iter().zip(consents) {
        let must_confirm = addressee.channel == Channel::EMAIL
            && email_indices.next().is_some_and(|index| to_confirm.contains(&index));
        let same = audience.recipients.iter().filter(|(_, recipient)| {
            recipient.destination.channel() == addressee.channel
                && addressee.channel.is_same_address(recipient.destination.as_str(), addressee.address)
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
            Some(Notice::Now(_)) => check.problem(
                device,
                (addressee.channel, addressee.address),
                (consent, must_confirm),
                severity,
            ),
        };
        let is_shown = is_visible(caller, addressee.address)
            || readable.as_ref().is_none_or(|named| named.contains(&addressee.address.to_lowercase()));
        let address = addressee.address;
        recipients.push(AlertRecipientView {
            channel: addressee.channel.name(),
            address: if is_shown { address.to_owned() } else { hidden(address) },
            name: shown.preferences.name.clone().filter(|_| is_shown),
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

async fn read_rule(app: &App, caller: &Caller, params: &mut Params) -> ApiResult<Option<Rule>> {
    let Some(rule) = params.parsed::<RuleId>("rule", "the ID of a rule such as rul_01jc2m8k4n5p6") else {
        return Ok(None);
    };
    app.store.find_rule(caller.scope(), rule).await?.ok_or_else(|| not_found(Kind::Rule)).map(Some)
}

/// List recipients of alerts of a device
///
/// Returns everybody who would be notified of an alert of the device: the recipients of the routing in force, of the
/// rule and of watch lists. For each recipient who would not be reached now, `problem` says why. The device must be
/// visible to the caller. Nothing is sent.
#[utoipa::path(get, path = "/api/devices/{deviceId}/alertRecipients", tag = "notifications", params(
    ("rule" = Option<String>, Query, description = "ID of a rule: list the recipients of an alert that this rule raises. Default: an alert without a rule.", example = "rul_01jc2m8k4n5p6"),
    ("severity" = Option<SeverityName>, Query, description = "Severity of the alert. Default: `critical`."),
), responses((status = 200, description = "Recipients of the alert.", body = AlertRecipientsView)))]
pub async fn list_alert_recipients(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    mut params: Params,
) -> ApiReply<AlertRecipientsView> {
    let severity = params.word("severity", &Severity::ALL.map(|severity| (severity.name(), severity)));
    let device = find_device(&app, &caller, device.as_ref()).await?;
    let rule = read_rule(&app, &caller, &mut params).await?;
    params.finish()?;
    let audience =
        app.store.find_audience(caller.scope(), device.id, rule.as_ref().map(|rule| rule.id)).await?;
    let readable = readable(&app, &caller, &device, rule.as_ref()).await?;
    let severity = severity.unwrap_or(Severity::Critical);
    let body = view(&app, &caller, &device, (&audience, readable), severity).await?;
    Ok(caller.reply(body))
}

/// Send test messages to the recipients of a device
///
/// Sends a test message to everybody who would be notified of an alert of the device, including the recipients of
/// escalation steps. Requires the privilege `devices.write`. Webhooks get no message; test them with `POST
/// /api/webhooks/{webhookId}/test`. An account may send up to 200 test messages per hour. Test messages count against
/// the caps of the account, not against the daily limits of the device.
#[utoipa::path(post, path = "/api/devices/{deviceId}/alertRecipients/test", tag = "notifications", params(
    ("rule" = Option<String>, Query, description = "ID of a rule: send to the recipients of this rule too. Default: none.", example = "rul_01jc2m8k4n5p6"),
), responses((status = 200, description = "The test messages were queued.", body = TestMessagesView)))]
pub async fn test_alert_recipients(
    Call(app, caller): Call,
    DevicePath(device): DevicePath,
    mut params: Params,
) -> ApiReply<TestMessagesView> {
    let device = find_device(&app, &caller, device.as_ref()).await?;
    let rule = read_rule(&app, &caller, &mut params).await?;
    params.finish()?;
    caller.require(Privilege::DevicesWrite)?;
    let rule = rule.map(|rule| rule.id);
    let written = app.store.send_test_messages(&caller.actor(), device.id, rule).await?;
    let messages = written.ok_or_else(|| {
        ApiError::new(
            ErrorCode::RateLimited,
            "The account has sent too many test messages in the last hour. Wait an hour and try again.",
        )
    })?;
    Ok(caller.reply(TestMessagesView { messages }))
}
