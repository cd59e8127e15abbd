//! Reading alert routing from a request.

use perigee_core::alerts::severity::Severity;
use perigee_core::id::{ContactGroupId, UserId, WebhookId};
use perigee_core::notifications::contact::Contact;
use perigee_core::notifications::escalation::{Escalation, EscalationRepeat, EscalationStep};
use perigee_core::notifications::notification::{ADDRESS_MAX, Channel};
use perigee_core::notifications::routing::{
    AlertRouting, Destination, Language, Preferences, Recipient, RoutedContacts, RoutedUser, RoutedWebhook,
    Units,
};
use perigee_core::text::OptionalName;
use perigee_core::zone::Zone;
use utoipa::openapi::{RefOr, Schema};

use crate::http::input::{
    Member, Object, Objects, Part, Schemas, Whole, Word, Words as _, id, parsed_kinds, text,
};
use crate::http::json::{Field, Fields};
use crate::http::prelude::*;
use crate::http::routes::alerts::view::ChannelName;
use crate::http::schedule::ScheduleInput;

input! {
    /// Who is notified of alerts.
    pub(super) struct AlertRoutingInput {
        /// Recipients by address. An empty list is a valid routing without such
        /// recipients.
        recipients: Objects<RecipientInput, 0, { AlertRouting::RECIPIENTS_MAX }>, required;
        /// Users of the account to notify by e-mail. Default: none.
        users: Objects<RoutedUserInput, 0, { AlertRouting::USERS_MAX }>, nullable;
        /// Contact groups to notify. Default: none.
        contact_groups as "contactGroups": Objects<RoutedContactsInput, 0, { AlertRouting::CONTACT_GROUPS_MAX }>, nullable;
        /// Webhooks that alerts are sent to. Default: none.
        webhooks: Objects<RoutedWebhookInput, 0, { AlertRouting::WEBHOOKS_MAX }>, nullable;
        /// Steps that follow if nobody acknowledges a critical alert. Default: none.
        escalation: Object<EscalationInput>, nullable;
    }
}

input! {
    /// Who is notified of alerts of a rule, in addition to the routing of the device, its groups or the account.
    pub(in crate::http::routes) struct RuleThenInput {
        /// Recipients by address. Default: none.
        recipients: Objects<RecipientInput, 0, { AlertRouting::RECIPIENTS_MAX }>, nullable;
        /// Users of the account to notify by e-mail. Default: none.
        users: Objects<RoutedUserInput, 0, { AlertRouting::USERS_MAX }>, nullable;
        /// Contact groups to notify. Default: none.
        contact_groups as "contactGroups": Objects<RoutedContactsInput, 0, { AlertRouting::CONTACT_GROUPS_MAX }>, nullable;
        /// Webhooks that alerts are sent to. Default: none.
        webhooks: Objects<RoutedWebhookInput, 0, { AlertRouting::WEBHOOKS_MAX }>, nullable;
        /// Steps that follow if nobody acknowledges an alert of a critical rule. Default: none.
        escalation: Object<EscalationInput>, nullable;
    }
}

input! {
    /// A user of the account who is notified of alerts by e-mail, in the language, units and time zone of the user's
    /// console.
    pub(in crate::http::routes) struct RoutedUserInput {
        /// ID of the user. It must be a user of the account.
        id: RoutedUserId, required, example "usr_01jc2m8k4n5p8";
        /// Only alerts of this severity or higher are sent. Default: `info`.
        minimum_severity as "minimumSeverity": Word<Severity>, nullable, example "warning";
        /// Hours in which the user is notified. A schedule without a time zone uses that of the user. Default: always.
        schedule: Object<ScheduleInput>, nullable;
    }
}

input! {
    /// A contact group that is notified of alerts.
    pub(in crate::http::routes) struct RoutedContactsInput {
        /// ID of the contact group. It must belong to the account.
        id: RoutedGroupId, required, example "ctg_01jc2m8k4n5p6";
        /// Only alerts of this severity or higher are sent. Default: `info`.
        minimum_severity as "minimumSeverity": Word<Severity>, nullable, example "warning";
        /// Hours in which the contacts are notified. A schedule without a time zone uses that of each contact. Default:
        /// always.
        schedule: Object<ScheduleInput>, nullable;
    }
}

input! {
    /// Steps that follow until somebody acknowledges a critical alert or a user ends it.
    pub(in crate::http::routes) struct EscalationInput {
        /// The steps, sorted by `afterMinutes`. Each must be later than the one before.
        steps: Objects<EscalationStepInput, 1, { Escalation::STEPS_MAX }>, required;
        /// Interval after the last step at which the recipients of all steps are notified again, in minutes. Default:
        /// no repetition.
        repeat_minutes as "repeatMinutes": Whole<1, { Escalation::MINUTES_MAX }>, nullable, example 30;
        /// Maximum number of repetitions. It requires `repeatMinutes`. Default: 10.
        repeat_times as "repeatTimes": Whole<1, { Escalation::TIMES_MAX }>, nullable, example 10;
    }
}

input! {
    /// Recipients who are notified if an alert is still not acknowledged.
    pub(in crate::http::routes) struct EscalationStepInput {
        /// Time of the step after the alert was received, in minutes.
        after_minutes as "afterMinutes": Whole<1, { Escalation::MINUTES_MAX }>, required, example 10;
        /// Recipients by address. Default: none.
        recipients: Objects<RecipientInput, 0, { AlertRouting::RECIPIENTS_MAX }>, nullable;
        /// Users of the account to notify by e-mail. Default: none.
        users: Objects<RoutedUserInput, 0, { AlertRouting::USERS_MAX }>, nullable;
        /// Contact groups to notify. Default: none.
        contact_groups as "contactGroups": Objects<RoutedContactsInput, 0, { AlertRouting::CONTACT_GROUPS_MAX }>, nullable;
    }
}

input! {
    /// A contact of a contact group.
    pub(in crate::http::routes) struct ContactInput {
        /// Channel by which the contact is notified, such as `email` or `sms`. A channel that the
        /// server is not set up for is accepted; notifications by it are recorded as suppressed (`channel-off`).
        channel: ChannelWord, required, example "email";
        /// Address in the format of the channel: an e-mail address, a telephone number in international form such as
        /// `+34600123456` (`sms`, `call`, `whatsapp`), a URL (`slack`, `teams`, `discord`), or a key or name of the
        /// service.
        address: Address, required, example "ana@example.com";
        /// Name of the contact, used in messages. Default: none.
        name: OptionalName, nullable, example "Ana";
        /// Time zone of the times in messages, as an IANA name. Default: the time zone of the account.
        time_zone as "timeZone": Zone, nullable, example "Europe/Madrid";
        /// Units of speeds, distances and temperatures in messages. Default: `metric`.
        units: Word<Units>, nullable, example "metric";
        /// Language of messages, as a tag such as `en` or `pt-BR`. Default: `en`.
        language: LanguageTag, nullable, example "en";
    }
}

input! {
    /// A webhook that alerts are sent to.
    pub(in crate::http::routes) struct RoutedWebhookInput {
        /// ID of the webhook. It must belong to the account.
        id: RoutedWebhookId, required, example "whk_01jc2m8k4n5p6";
        /// Only alerts of this severity or higher are sent. Default: `info`.
        minimum_severity as "minimumSeverity": Word<Severity>, nullable, example "warning";
        /// Hours in which alerts are sent to the webhook. A schedule without a time zone uses that of the account.
        /// Default: always.
        schedule: Object<ScheduleInput>, nullable;
    }
}

input! {
    /// A recipient of notifications about alerts.
    pub(in crate::http::routes) struct RecipientInput {
        /// Channel by which the recipient is notified, such as `email` or `sms`. A channel that the
        /// server is not set up for is accepted; notifications by it are recorded as suppressed (`channel-off`).
        channel: ChannelWord, required, example "email";
        /// Address in the format of the channel: an e-mail address, a telephone number in international form such as
        /// `+34600123456` (`sms`, `call`, `whatsapp`), a URL (`slack`, `teams`, `discord`), or a key or name of the
        /// service.
        address: Address, required, example "ana@example.com";
        /// Name of the recipient, used in messages. Default: none.
        name: OptionalName, nullable, example "Ana";
        /// Only alerts of this severity or higher are sent. Default: `info`.
        minimum_severity as "minimumSeverity": Word<Severity>, nullable, example "warning";
        /// Hours in which the recipient is notified. A schedule without a time zone uses that of the recipient, or that of
        /// the account if the recipient has none. Default: always.
        schedule: Object<ScheduleInput>, nullable;
        /// Time zone of the times in messages, as an IANA name. Default: the time zone of the account.
        time_zone as "timeZone": Zone, nullable, example "Europe/Madrid";
        /// Units of speeds, distances and temperatures in messages. Default: `metric`.
        units: Word<Units>, nullable, example "metric";
        /// Language of messages, as a tag such as `en` or `pt-BR`. Default: `en`.
        language: LanguageTag, nullable, example "en";
    }
}

parsed_kinds! {
    /// The id of a webhook.
    pub(in crate::http::routes) RoutedWebhookId => WebhookId, "the ID of a webhook such as whk_01jc2m8k4n5p6", id(WebhookId::PREFIX);
    /// The id of a user.
    pub(in crate::http::routes) RoutedUserId => UserId, "the ID of a user such as usr_01jc2m8k4n5p8", id(UserId::PREFIX);
    /// The id of a contact group.
    pub(in crate::http::routes) RoutedGroupId => ContactGroupId, "the ID of a contact group such as ctg_01jc2m8k4n5p6",
        id(ContactGroupId::PREFIX);
    /// A language as a tag.
    pub(in crate::http::routes) LanguageTag => Language, "a language tag such as \"en\" or \"pt-BR\"",
        text(2, Language::CHARS_MAX, |text| text.pattern(Some("^[a-z]{2,3}(-[0-9A-Za-z]{2,8})*$")));
}

/// The name of a channel, in any letter case.
pub(in crate::http::routes) enum ChannelWord {}

impl Member for ChannelWord {
    type Value = Channel;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Channel> {
        fields.text(name).lower_case().one_of(&Channel::words())
    }

    fn schema() -> RefOr<Schema> {
        <ChannelName as Member>::schema()
    }

    fn add_schemas(schemas: &mut Schemas) {
        ChannelName::add_schemas(schemas);
    }
}

/// What may be an address of some channel: no blanks and no control characters.
const ADDRESS: &str = r"^[^\x00-\x20\x7f-\x9f\s]+$";

/// An address of the recipient's channel.
pub(in crate::http::routes) enum Address {}

impl Member for Address {
    type Value = Destination;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Destination> {
        let channel = fields.raw("channel").nullable().and_then(Value::as_str);
        let channel: Option<Channel> = channel.and_then(|text| text.to_ascii_lowercase().parse().ok());
        fields.text(name).convert(|text| match channel {
            Some(Channel::PUSH) => {
                Err("must not be a browser: name its user, who is notified in all subscribed browsers".into())
            }
            Some(channel) => Destination::parse(channel, &text).map_err(|error| error.0.into()),
            // The channel's problem was recorded already.
            None => [Channel::EMAIL, Channel::SMS]
                .into_iter()
                .find_map(|channel| Destination::parse(channel, &text).ok())
                .ok_or_else(|| "must be an address of the channel".into()),
        })
    }

    fn schema() -> RefOr<Schema> {
        text(1, ADDRESS_MAX, |text| text.pattern(Some(ADDRESS)))
    }
}

impl Part for RoutedWebhookInput {
    type Value = RoutedWebhook;

    fn make(self, _fields: &mut Fields<'_>) -> Option<RoutedWebhook> {
        let minimum_severity = self.minimum_severity.unwrap_or(Severity::Info);
        Some(RoutedWebhook { webhook: self.id?, minimum_severity, schedule: self.schedule })
    }
}

impl Part for RoutedUserInput {
    type Value = RoutedUser;

    fn make(self, fields: &mut Fields<'_>) -> Option<RoutedUser> {
        fields.ignore(&["name"]);
        let minimum_severity = self.minimum_severity.unwrap_or(Severity::Info);
        Some(RoutedUser { user: self.id?, minimum_severity, schedule: self.schedule })
    }
}

impl Part for RoutedContactsInput {
    type Value = RoutedContacts;

    fn make(self, fields: &mut Fields<'_>) -> Option<RoutedContacts> {
        fields.ignore(&["name"]);
        let minimum_severity = self.minimum_severity.unwrap_or(Severity::Info);
        Some(RoutedContacts { group: self.id?, minimum_severity, schedule: self.schedule })
    }
}

/// Repetitions of an escalation unless a client sets another number.
const REPEAT_TIMES: u32 = 10;

impl Part for EscalationInput {
    type Value = Escalation;

    fn make(self, fields: &mut Fields<'_>) -> Option<Escalation> {
        let steps = self.steps?;
        if !steps.is_sorted_by(|one, next| one.after_minutes < next.after_minutes) {
            fields.refuse(
                "steps",
                "must be sorted by \"afterMinutes\", and each step must be later than the one before",
            );
        }
        if self.repeat_minutes.is_none() && self.repeat_times.is_some() {
            fields.refuse("repeatTimes", "requires \"repeatMinutes\"");
        }
        let repeat = self.repeat_minutes.map(|every_minutes| EscalationRepeat {
            every_minutes,
            times: self.repeat_times.unwrap_or(REPEAT_TIMES),
        });
        Some(Escalation { steps, repeat })
    }
}

impl Part for EscalationStepInput {
    type Value = EscalationStep;

    fn make(self, fields: &mut Fields<'_>) -> Option<EscalationStep> {
        let step = EscalationStep {
            after_minutes: self.after_minutes?,
            recipients: self.recipients.unwrap_or_default(),
            users: self.users.unwrap_or_default(),
            contact_groups: self.contact_groups.unwrap_or_default(),
        };
        if step.recipients.is_empty() && step.users.is_empty() && step.contact_groups.is_empty() {
            fields.refuse(
                "recipients",
                "must not be empty unless \"users\" or \"contactGroups\" names a recipient",
            );
        }
        Some(step)
    }
}

impl Part for RuleThenInput {
    type Value = AlertRouting;

    fn make(self, _fields: &mut Fields<'_>) -> Option<AlertRouting> {
        Some(AlertRouting {
            recipients: self.recipients.unwrap_or_default(),
            users: self.users.unwrap_or_default(),
            contact_groups: self.contact_groups.unwrap_or_default(),
            webhooks: self.webhooks.unwrap_or_default(),
            escalation: self.escalation,
        })
    }
}

impl Part for ContactInput {
    type Value = Contact;

    fn make(self, fields: &mut Fields<'_>) -> Option<Contact> {
        fields.ignore(&["status"]);
        self.channel?;
        Some(Contact {
            destination: self.address?,
            preferences: Preferences {
                name: self.name,
                time_zone: self.time_zone,
                units: self.units.unwrap_or_default(),
                language: self.language.unwrap_or_default(),
            },
        })
    }
}

impl Part for RecipientInput {
    type Value = Recipient;

    fn make(self, fields: &mut Fields<'_>) -> Option<Recipient> {
        fields.ignore(&["status"]);
        self.channel?;
        Some(Recipient {
            destination: self.address?,
            preferences: Preferences {
                name: self.name,
                time_zone: self.time_zone,
                units: self.units.unwrap_or_default(),
                language: self.language.unwrap_or_default(),
            },
            minimum_severity: self.minimum_severity.unwrap_or(Severity::Info),
            schedule: self.schedule,
        })
    }
}

/// Reads a routing from a request.
pub(super) fn read_routing(body: &Value) -> ApiResult<AlertRouting> {
    let ignored: [&[_]; 2] = [ENVELOPE, &["isSet", "inForce", "lastModified"]];
    read_body(body, &ignored, |input: AlertRoutingInput, _| {
        Some(AlertRouting {
            recipients: input.recipients?,
            users: input.users.unwrap_or_default(),
            contact_groups: input.contact_groups.unwrap_or_default(),
            webhooks: input.webhooks.unwrap_or_default(),
            escalation: input.escalation,
        })
    })
}

#[cfg(test)]
mod tests {
    use perigee_core::rules::schedule::Weekday;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_problem_is_reported_with_its_pointer() {
        let body = json!({"recipients": [
            {"channel": "email", "address": "nobody"},
            {"channel": "sms", "address": "600 123 456", "units": "metres", "language": "English"},
            {"channel": "fax", "address": "ana@example.com", "minimumSeverity": "high"},
            {"channel": "sms", "address": "+34600123456",
                "schedule": {"weekdays": ["monday", "monday"], "from": "8", "to": "25:00", "hours": 3}},
        ]});
        let problems = read_routing(&body).unwrap_err().problems;
        let mut pointers: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
        pointers.sort_unstable();
        assert_eq!(
            pointers,
            [
                "/recipients/0/address",
                "/recipients/1/address",
                "/recipients/1/language",
                "/recipients/1/units",
                "/recipients/2/channel",
                "/recipients/2/minimumSeverity",
                "/recipients/3/schedule/from",
                "/recipients/3/schedule/hours",
                "/recipients/3/schedule/to",
                "/recipients/3/schedule/weekdays/1",
            ]
        );
    }

    #[test]
    fn omitted_members_have_defaults() {
        let body = json!({"recipients": [{"channel": "sms", "address": "+34600123456",
            "schedule": {"from": "22:00", "to": "06:00"}}]});
        let routing = read_routing(&body).unwrap();
        let recipient = &routing.recipients[0];
        assert_eq!(recipient.minimum_severity, Severity::Info);
        assert_eq!(recipient.schedule.as_ref().unwrap().weekdays, Weekday::ALL);
        assert_eq!(recipient.preferences, Preferences::default());
    }
}
