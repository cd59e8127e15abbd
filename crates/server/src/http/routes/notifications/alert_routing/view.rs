//! The JSON of alert routing.

use perigee_core::notifications::escalation::{Escalation, EscalationStep};
use perigee_core::notifications::notification::{Channel, EmailConsent};
use perigee_core::notifications::routing::{
    AlertRouting, Recipient, RoutedContacts, RoutedUser, RoutedWebhook, RoutingHolder, StoredRouting, Units,
};

use crate::http::input::{Word, words};
use crate::http::prelude::*;
use crate::http::routes::alerts::view::{ChannelName, SeverityName};
use crate::http::schedule::ScheduleView;

/// Who is notified of alerts, as set on a device, a group or the account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AlertRouting)]
pub struct AlertRoutingView {
    /// Recipients by address. If `isSet` is true and there are no recipients of any kind,
    /// the routing notifies nobody.
    recipients: Vec<RecipientView>,
    /// Users of the account who are notified by e-mail.
    users: Vec<RoutedUserView>,
    /// Contact groups that are notified.
    contact_groups: Vec<RoutedContactsView>,
    /// Webhooks that alerts are sent to, whatever events the webhooks select.
    webhooks: Vec<RoutedWebhookView>,
    /// Steps that follow if nobody acknowledges a critical alert. Null for none.
    escalation: Option<EscalationView>,
    /// Whether a routing is set here. If false, the next less specific routing applies: those of the groups of the
    /// device, then that of the account.
    #[schema(example = true)]
    is_set: bool,
    /// Which routing applies to alerts of the device: `device`, `group`, `account`, or `none` if none is set. Absent
    /// for groups and the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RoutingLevelName, example = "device", required = false)]
    in_force: Option<&'static str>,
    /// Time at which the routing was last changed. Null if it was never set.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: Option<String>,
}

/// Resource whose alert routing applies to a device. `device`: the device itself. `group`: the groups of the device;
/// several routings apply together. `account`: the account, because neither the device nor its groups have a routing.
/// `none`: no routing is set, so that only rules and watch lists name recipients.
#[derive(ToSchema)]
#[schema(as = AlertRoutingLevel, rename_all = "lowercase")]
pub enum RoutingLevelName {
    /// The routing of the device applies.
    Device,
    /// The routings of the groups of the device apply together.
    Group,
    /// The routing of the account applies, because device and groups have none.
    Account,
    /// No routing is set: only rules and watch lists name recipients.
    None,
}

/// A recipient of notifications about alerts.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Recipient)]
pub struct RecipientView {
    /// Channel by which the recipient is notified.
    #[schema(value_type = ChannelName, example = "email")]
    channel: &'static str,
    /// E-mail address, or telephone number in international form such as `+34600123456`.
    #[schema(example = "ana@example.com")]
    address: String,
    /// Name of the recipient, used in messages. Null if it has none.
    #[schema(example = "Ana")]
    name: Option<String>,
    /// Only alerts of this severity or higher are sent.
    #[schema(value_type = SeverityName, example = "warning")]
    minimum_severity: &'static str,
    /// Hours in which the recipient is notified. Messages outside these hours are suppressed. Null for always.
    schedule: Option<ScheduleView>,
    /// Time zone of the times in messages, as an IANA name. Null for the time zone of the account.
    #[schema(example = "Europe/Madrid")]
    time_zone: Option<String>,
    /// Units of speeds, distances and temperatures in messages.
    #[schema(value_type = UnitsName, example = "metric")]
    units: &'static str,
    /// Language of messages, as a tag such as `en` or `pt-BR`.
    #[schema(example = "en")]
    language: String,
    /// Whether messages reach the recipient. `active`: they do. `unsubscribed`: the recipient unsubscribed with the
    /// link in an e-mail. `unconfirmed`: the recipient must confirm first and has not done so. Only the recipient can
    /// change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, example = "active", pattern = "^(active|unsubscribed|unconfirmed)$")]
    status: Option<&'static str>,
}

/// A user of the account who is notified of alerts by e-mail, in the language, units and time zone of the user's
/// console.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RoutedUser)]
pub struct RoutedUserView {
    /// ID of the user.
    #[schema(example = "usr_01jc2m8k4n5p8")]
    id: String,
    /// Only alerts of this severity or higher are sent.
    #[schema(value_type = SeverityName, example = "warning")]
    minimum_severity: &'static str,
    /// Hours in which the user is notified. Messages outside these hours are suppressed. Null for always.
    schedule: Option<ScheduleView>,
}

/// A contact group that is notified of alerts.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RoutedContacts)]
pub struct RoutedContactsView {
    /// ID of the contact group.
    #[schema(example = "ctg_01jc2m8k4n5p6")]
    id: String,
    /// Only alerts of this severity or higher are sent.
    #[schema(value_type = SeverityName, example = "warning")]
    minimum_severity: &'static str,
    /// Hours in which the contacts are notified. Messages outside these hours are suppressed. Null for always.
    schedule: Option<ScheduleView>,
}

/// Steps that follow until somebody acknowledges a critical alert or a user ends it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Escalation)]
pub struct EscalationView {
    /// The steps, sorted by `afterMinutes`.
    steps: Vec<EscalationStepView>,
    /// Interval after the last step at which the recipients of all steps are notified again, in minutes. Null for no
    /// repetition.
    #[schema(example = 30)]
    repeat_minutes: Option<u32>,
    /// Maximum number of repetitions. Null if `repeatMinutes` is null.
    #[schema(example = 10)]
    repeat_times: Option<u32>,
}

/// Recipients who are notified if an alert is still not acknowledged.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EscalationStep)]
pub struct EscalationStepView {
    /// Time of the step after the alert was received, in minutes.
    #[schema(example = 10)]
    after_minutes: u32,
    /// Recipients by address.
    recipients: Vec<RecipientView>,
    /// Users of the account who are notified by e-mail.
    users: Vec<RoutedUserView>,
    /// Contact groups that are notified.
    contact_groups: Vec<RoutedContactsView>,
}

/// Who is notified of alerts of a rule, in addition to the routing of the device, its groups or the account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RuleThen)]
pub struct RuleThenView {
    /// Recipients by address.
    recipients: Vec<RecipientView>,
    /// Users of the account who are notified by e-mail.
    users: Vec<RoutedUserView>,
    /// Contact groups that are notified.
    contact_groups: Vec<RoutedContactsView>,
    /// Webhooks that alerts are sent to.
    webhooks: Vec<RoutedWebhookView>,
    /// Steps that follow if nobody acknowledges an alert of a critical rule. Null for none.
    escalation: Option<EscalationView>,
}

/// A webhook that alerts are sent to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RoutedWebhook)]
pub struct RoutedWebhookView {
    /// ID of the webhook.
    #[schema(example = "whk_01jc2m8k4n5p6")]
    id: String,
    /// Only alerts of this severity or higher are sent.
    #[schema(value_type = SeverityName, example = "warning")]
    minimum_severity: &'static str,
    /// Hours in which alerts are sent to the webhook. Null for always.
    schedule: Option<ScheduleView>,
}

words! {
    "Units", "System of units. `metric`: kilometres, km/h, metres and Celsius. `imperial`: miles, mph, feet and Fahrenheit. \
     `nautical`: nautical miles, knots and Celsius." => Units;
}

/// A system of units, as the API describes it.
pub type UnitsName = Word<Units>;

impl AlertRoutingView {
    /// The routing of one resource and, for a device, which routing applies.
    pub(super) fn new(stored: StoredRouting, in_force: Option<&'static str>) -> Self {
        let is_set = stored.routing.is_some();
        let RuleThenView { mut recipients, users, contact_groups, webhooks, escalation } =
            RuleThenView::from(stored.routing.unwrap_or_default());
        for recipient in &mut recipients {
            recipient.status = Some(recipient_status(EmailConsent::default(), false));
        }
        Self {
            recipients,
            users,
            contact_groups,
            webhooks,
            escalation,
            is_set,
            in_force,
            last_modified: stored.last_modified.map(|at| at.to_string()),
        }
    }
}

impl AlertRoutingView {
    /// The addresses that get e-mail.
    pub(super) fn email_addresses(&self) -> Vec<String> {
        self.emails().map(|recipient| recipient.address.clone()).collect()
    }

    /// Sets the status of recipients by e-mail, in the order of [`Self::email_addresses`].
    pub(super) fn show_consents(&mut self, consents: &[EmailConsent], to_confirm: &[usize]) {
        let emails =
            self.recipients.iter_mut().filter(|recipient| recipient.channel == Channel::EMAIL.name());
        for (index, (recipient, consent)) in emails.zip(consents).enumerate() {
            recipient.status = Some(recipient_status(*consent, to_confirm.contains(&index)));
        }
    }

    fn emails(&self) -> impl Iterator<Item = &RecipientView> {
        self.recipients.iter().filter(|recipient| recipient.channel == Channel::EMAIL.name())
    }
}

/// Whether e-mail reaches a recipient; `must_confirm` if the recipient must confirm first.
pub(in crate::http::routes) const fn recipient_status(
    consent: EmailConsent,
    must_confirm: bool,
) -> &'static str {
    if consent.unsubscribed_at.is_some() {
        "unsubscribed"
    } else if must_confirm {
        "unconfirmed"
    } else {
        "active"
    }
}

/// The name of the resource whose routing applies.
pub(super) const fn holder_name(holder: Option<RoutingHolder>) -> &'static str {
    match holder {
        Some(RoutingHolder::Device(_)) => "device",
        Some(RoutingHolder::Group(_)) => "group",
        Some(RoutingHolder::Account) => "account",
        None => "none",
    }
}

impl From<AlertRouting> for RuleThenView {
    fn from(routing: AlertRouting) -> Self {
        Self {
            recipients: routing.recipients.into_iter().map(RecipientView::from).collect(),
            users: routing.users.into_iter().map(RoutedUserView::from).collect(),
            contact_groups: routing.contact_groups.into_iter().map(RoutedContactsView::from).collect(),
            webhooks: routing.webhooks.into_iter().map(RoutedWebhookView::from).collect(),
            escalation: routing.escalation.map(EscalationView::from),
        }
    }
}

impl From<Escalation> for EscalationView {
    fn from(escalation: Escalation) -> Self {
        Self {
            steps: escalation.steps.into_iter().map(EscalationStepView::from).collect(),
            repeat_minutes: escalation.repeat.map(|repeat| repeat.every_minutes),
            repeat_times: escalation.repeat.map(|repeat| repeat.times),
        }
    }
}

impl From<EscalationStep> for EscalationStepView {
    fn from(step: EscalationStep) -> Self {
        Self {
            after_minutes: step.after_minutes,
            recipients: step.recipients.into_iter().map(RecipientView::from).collect(),
            users: step.users.into_iter().map(RoutedUserView::from).collect(),
            contact_groups: step.contact_groups.into_iter().map(RoutedContactsView::from).collect(),
        }
    }
}

impl From<RoutedUser> for RoutedUserView {
    fn from(routed: RoutedUser) -> Self {
        Self {
            id: routed.user.to_string(),
            minimum_severity: routed.minimum_severity.name(),
            schedule: routed.schedule.map(ScheduleView::from),
        }
    }
}

impl From<RoutedContacts> for RoutedContactsView {
    fn from(routed: RoutedContacts) -> Self {
        Self {
            id: routed.group.to_string(),
            minimum_severity: routed.minimum_severity.name(),
            schedule: routed.schedule.map(ScheduleView::from),
        }
    }
}

impl From<RoutedWebhook> for RoutedWebhookView {
    fn from(routed: RoutedWebhook) -> Self {
        Self {
            id: routed.webhook.to_string(),
            minimum_severity: routed.minimum_severity.name(),
            schedule: routed.schedule.map(ScheduleView::from),
        }
    }
}

impl From<Recipient> for RecipientView {
    fn from(recipient: Recipient) -> Self {
        Self {
            channel: recipient.destination.channel().name(),
            address: recipient.destination.as_str().to_owned(),
            name: recipient.preferences.name,
            minimum_severity: recipient.minimum_severity.name(),
            schedule: recipient.schedule.map(ScheduleView::from),
            time_zone: recipient.preferences.time_zone.map(|zone| zone.to_string()),
            units: recipient.preferences.units.name(),
            language: recipient.preferences.language.as_str().to_owned(),
            status: None,
        }
    }
}
