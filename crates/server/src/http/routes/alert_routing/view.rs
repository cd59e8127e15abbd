//! The JSON of alert routing.

use perigee_core::escalation::{Escalation, EscalationStep};
use perigee_core::notification::{Channel, EmailConsent};
use perigee_core::routing::{
    AlertRouting, Recipient, RoutedContacts, RoutedUser, RoutedWebhook, RoutingHolder, StoredRouting, Units,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::input::{Word, words};
use crate::http::routes::alerts::view::{ChannelName, SeverityName};
use crate::http::schedule::ScheduleView;

/// Whom alerts go to, as set in one place.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AlertRouting)]
pub struct AlertRoutingView {
    /// Whom alerts go to. Set and empty: nobody.
    recipients: Vec<RecipientView>,
    /// Users of the account that alerts go to by e-mail.
    users: Vec<RoutedUserView>,
    /// Contact groups that alerts go to.
    contact_groups: Vec<RoutedContactsView>,
    /// The webhooks that alerts go to, whatever else they are told of.
    webhooks: Vec<RoutedWebhookView>,
    /// What follows if nobody acknowledges a critical alert; null for nothing.
    escalation: Option<EscalationView>,
    /// Whether anything is set here. If not, the next place decides: the device's groups, then the account.
    #[schema(example = true)]
    is_set: bool,
    /// For a device: the place that decides now, `none` when none is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = PlaceName, example = "device", required = false)]
    in_force: Option<&'static str>,
    /// When it was last changed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: Option<String>,
}

/// A place where it can be set.
#[derive(ToSchema)]
#[schema(as = AlertRoutingPlace, rename_all = "lowercase")]
pub enum PlaceName {
    /// The device's own routing.
    Device,
    /// Groups the device is in; several add up.
    Group,
    /// The account's routing, which applies where device and groups have none.
    Account,
    /// No routing is set: nobody is notified.
    None,
}

/// Somebody who is told of alerts.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Recipient)]
pub struct RecipientView {
    /// How the recipient is reached: `email` or `sms`.
    #[schema(value_type = ChannelName, example = "email")]
    channel: &'static str,
    /// An e-mail address, or a telephone number in international form.
    #[schema(example = "ana@example.com")]
    address: String,
    /// What to call them.
    #[schema(example = "Ana")]
    name: Option<String>,
    /// They are told of alerts that matter at least so much.
    #[schema(value_type = SeverityName, example = "warning")]
    minimum_severity: &'static str,
    /// When they want to be told; null for always.
    schedule: Option<ScheduleView>,
    /// The zone of the times they read, by IANA id; null for the account's.
    #[schema(example = "Europe/Madrid")]
    time_zone: Option<String>,
    /// The units of speeds, distances and temperatures in their messages.
    #[schema(value_type = UnitsName, example = "metric")]
    units: &'static str,
    /// The language of their messages.
    #[schema(example = "en")]
    language: String,
    /// Whether messages reach them: `active`, `unsubscribed` (they ended e-mail by the link in a mail) or `unconfirmed`
    /// (they were asked and did not confirm yet). Only they can change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, example = "active", pattern = "^(active|unsubscribed|unconfirmed)$")]
    status: Option<&'static str>,
}

/// A user who is told of alerts by e-mail, in the language, units and time zone of their console.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RoutedUser)]
pub struct RoutedUserView {
    /// The id of a user of the account.
    #[schema(example = "usr_01jc2m8k4n5p8")]
    id: String,
    /// They are told of alerts that matter at least so much.
    #[schema(value_type = SeverityName, example = "warning")]
    minimum_severity: &'static str,
    /// When they are told; null for always.
    schedule: Option<ScheduleView>,
}

/// A contact group that is told of alerts.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RoutedContacts)]
pub struct RoutedContactsView {
    /// The id of a contact group of the account.
    #[schema(example = "ctg_01jc2m8k4n5p6")]
    id: String,
    /// They are told of alerts that matter at least so much.
    #[schema(value_type = SeverityName, example = "warning")]
    minimum_severity: &'static str,
    /// When they are told; null for always.
    schedule: Option<ScheduleView>,
}

/// Steps that follow until somebody acknowledges a critical alert or a user ends it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Escalation)]
pub struct EscalationView {
    /// The steps, in the order of their minutes.
    steps: Vec<EscalationStepView>,
    /// Minutes after which the people of all steps are told again; null if they are not.
    #[schema(example = 30)]
    repeat_minutes: Option<u32>,
    /// How often they are told again at most.
    #[schema(example = 10)]
    repeat_times: Option<u32>,
}

/// People who are told if an alert is still not acknowledged.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EscalationStep)]
pub struct EscalationStepView {
    /// Minutes after the alert was received.
    #[schema(example = 10)]
    after_minutes: u32,
    /// Addresses that are told.
    recipients: Vec<RecipientView>,
    /// Users that are told by e-mail.
    users: Vec<RoutedUserView>,
    /// Contact groups that are told.
    contact_groups: Vec<RoutedContactsView>,
}

/// Who is told of the alerts of a rule, beside those of the device, its groups or the account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RuleThen)]
pub struct RuleThenView {
    /// Addresses that are told.
    recipients: Vec<RecipientView>,
    /// Users of the account that are told by e-mail.
    users: Vec<RoutedUserView>,
    /// Contact groups that are told.
    contact_groups: Vec<RoutedContactsView>,
    /// Webhooks that are told.
    webhooks: Vec<RoutedWebhookView>,
    /// What follows if nobody acknowledges an alert of a critical rule; null for nothing.
    escalation: Option<EscalationView>,
}

/// A webhook that is told of alerts.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RoutedWebhook)]
pub struct RoutedWebhookView {
    /// The id of a webhook of the account.
    #[schema(example = "whk_01jc2m8k4n5p6")]
    id: String,
    /// It is told of alerts that matter at least so much.
    #[schema(value_type = SeverityName, example = "warning")]
    minimum_severity: &'static str,
    /// When it is told; null for always.
    schedule: Option<ScheduleView>,
}

words! {
    "Units", "The units a person reads." => Units;
}

/// The units a person reads, as the document names them.
pub type UnitsName = Word<Units>;

impl AlertRoutingView {
    /// What is set in one place, and for a device the place that decides.
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

    /// Shows what those who get e-mail said, in the order of [`Self::email_addresses`].
    pub(super) fn show_consents(&mut self, consents: &[EmailConsent], to_confirm: &[usize]) {
        let emails =
            self.recipients.iter_mut().filter(|recipient| recipient.channel == Channel::Email.name());
        for (index, (recipient, consent)) in emails.zip(consents).enumerate() {
            recipient.status = Some(recipient_status(*consent, to_confirm.contains(&index)));
        }
    }

    fn emails(&self) -> impl Iterator<Item = &RecipientView> {
        self.recipients.iter().filter(|recipient| recipient.channel == Channel::Email.name())
    }
}

/// Whether e-mail reaches somebody; `must_confirm` if they must say first that they want it.
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

/// The name of the place that decides.
pub(super) const fn place_name(holder: Option<RoutingHolder>) -> &'static str {
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
