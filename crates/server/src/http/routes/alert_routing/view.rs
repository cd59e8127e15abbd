//! The JSON of alert routing.

use perigee_core::notification::{Channel, EmailConsent};
use perigee_core::routing::{AlertRouting, Recipient, RoutedWebhook, RoutingHolder, StoredRouting, Units};
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
    /// The webhooks that alerts go to, whatever else they are told of.
    webhooks: Vec<RoutedWebhookView>,
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
    #[schema(example = "active", pattern = "^(active|unsubscribed|unconfirmed)$")]
    status: &'static str,
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
        let AlertRouting { recipients, webhooks } = stored.routing.unwrap_or_default();
        Self {
            recipients: recipients.into_iter().map(RecipientView::from).collect(),
            webhooks: webhooks.into_iter().map(RoutedWebhookView::from).collect(),
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
    pub(super) fn show_consents(&mut self, consents: Vec<EmailConsent>, confirms: bool) {
        let emails =
            self.recipients.iter_mut().filter(|recipient| recipient.channel == Channel::Email.name());
        for (recipient, consent) in emails.zip(consents) {
            recipient.status = recipient_status(consent, confirms);
        }
    }

    fn emails(&self) -> impl Iterator<Item = &RecipientView> {
        self.recipients.iter().filter(|recipient| recipient.channel == Channel::Email.name())
    }
}

/// Whether e-mail reaches somebody; `confirms` where they must have said so.
pub(in crate::http::routes) const fn recipient_status(consent: EmailConsent, confirms: bool) -> &'static str {
    if consent.unsubscribed_at.is_some() {
        "unsubscribed"
    } else if confirms && !consent.is_confirmed() {
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
            status: recipient_status(EmailConsent::default(), false),
        }
    }
}
