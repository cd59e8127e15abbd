//! Reading alert routing from a request.

use perigee_core::id::WebhookId;
use perigee_core::notification::Channel;
use perigee_core::routing::{
    AlertRouting, Destination, Language, Preferences, Recipient, RoutedWebhook, Units,
};
use perigee_core::severity::Severity;
use perigee_core::text::{EMAIL_MAX, OptionalName};
use perigee_core::zone::Zone;
use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};

use crate::http::edit::ENVELOPE;
use crate::http::error::ApiResult;
use crate::http::input::{
    Member, Object, Objects, Part, Schemas, Word, Words as _, id, input, parsed_kinds, read_body, text,
};
use crate::http::json::{Field, Fields};
use crate::http::routes::alerts::view::ChannelName;
use crate::http::schedule::ScheduleInput;

const AN_ADDRESS: &str = "must be an e-mail address such as ana@example.com, of at most 254 characters";
const A_NUMBER: &str =
    "must be a telephone number in international form such as +34600123456, without spaces";

input! {
    /// What a client sets of where alerts go.
    pub(super) struct AlertRoutingInput {
        /// Whom alerts go to.
        recipients: Objects<RecipientInput, 0, { AlertRouting::RECIPIENTS_MAX }>, required;
        /// The webhooks that alerts go to; none unless given.
        webhooks: Objects<RoutedWebhookInput, 0, { AlertRouting::WEBHOOKS_MAX }>, nullable;
    }
}

input! {
    /// A webhook that is told of alerts.
    pub(super) struct RoutedWebhookInput {
        /// The id of a webhook of the account.
        id: RoutedWebhookId, required, example "whk_01jc2m8k4n5p6";
        /// It is told of alerts that matter at least so much; `info` unless given.
        minimum_severity as "minimumSeverity": Word<Severity>, nullable, example "warning";
        /// When it is told, by the account's clock unless the schedule has its own; always unless given.
        schedule: Object<ScheduleInput>, nullable;
    }
}

input! {
    /// Somebody who is told of alerts.
    pub(super) struct RecipientInput {
        /// How the recipient is reached: `email` or `sms`.
        channel: ChannelWord, required, example "email";
        /// An e-mail address, or a telephone number in international form such as `+34600123456`.
        address: Address, required, example "ana@example.com";
        /// What to call them.
        name: OptionalName, nullable, example "Ana";
        /// They are told of alerts that matter at least so much; `info` unless given.
        minimum_severity as "minimumSeverity": Word<Severity>, nullable, example "warning";
        /// When they want to be told; always unless given.
        schedule: Object<ScheduleInput>, nullable;
        /// The zone of the times they read, by IANA id; the account's unless given.
        time_zone as "timeZone": Zone, nullable, example "Europe/Madrid";
        /// Their units; metric unless given.
        units: Word<Units>, nullable, example "metric";
        /// Their language, as a tag such as `en` or `pt-BR`; English unless given.
        language: LanguageTag, nullable, example "en";
    }
}

parsed_kinds! {
    /// The id of a webhook.
    pub(super) RoutedWebhookId => WebhookId, "a webhook's id such as whk_01jc2m8k4n5p6", id(WebhookId::PREFIX);
    /// A language as a tag.
    pub(in crate::http::routes) LanguageTag => Language, "a language such as \"en\" or \"pt-BR\"",
        text(2, Language::CHARS_MAX, |text| text);
}

/// The name of a channel, in any letter case.
pub(super) enum ChannelWord {}

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

/// An address of the recipient's channel.
pub(super) enum Address {}

impl Member for Address {
    type Value = Destination;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Destination> {
        let channel = fields.raw("channel").nullable().and_then(Value::as_str);
        let channel = channel.and_then(|text| text.to_ascii_lowercase().parse().ok());
        fields.text(name).convert(|text| match channel {
            Some(Channel::Email) => text.parse().map(Destination::Email).map_err(|_other| AN_ADDRESS.into()),
            Some(Channel::Sms) => text.parse().map(Destination::Sms).map_err(|_other| A_NUMBER.into()),
            // The channel's problem was recorded already.
            None => text.parse().map(Destination::Email).or_else(|_other| {
                text.parse()
                    .map(Destination::Sms)
                    .map_err(|_neither| format!("{AN_ADDRESS}, or {A_NUMBER}").into())
            }),
        })
    }

    fn schema() -> RefOr<Schema> {
        text(1, EMAIL_MAX, |text| text)
    }
}

impl Part for RoutedWebhookInput {
    type Value = RoutedWebhook;

    fn make(self, _fields: &mut Fields<'_>) -> Option<RoutedWebhook> {
        let minimum_severity = self.minimum_severity.unwrap_or(Severity::Info);
        Some(RoutedWebhook { webhook: self.id?, minimum_severity, schedule: self.schedule })
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

/// Reads what a client sets.
pub(super) fn read_routing(body: &Value) -> ApiResult<AlertRouting> {
    let ignored: [&[_]; 2] = [ENVELOPE, &["isSet", "inForce", "lastModified"]];
    read_body(body, &ignored, |input: AlertRoutingInput, _| {
        Some(AlertRouting { recipients: input.recipients?, webhooks: input.webhooks.unwrap_or_default() })
    })
}

#[cfg(test)]
mod tests {
    use perigee_core::schedule::Weekday;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_problem_is_told_in_its_place() {
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
    fn little_is_enough() {
        let body = json!({"recipients": [{"channel": "sms", "address": "+34600123456",
            "schedule": {"from": "22:00", "to": "06:00"}}]});
        let routing = read_routing(&body).unwrap();
        let recipient = &routing.recipients[0];
        assert_eq!(recipient.minimum_severity, Severity::Info);
        assert_eq!(recipient.schedule.as_ref().unwrap().weekdays, Weekday::ALL);
        assert_eq!(recipient.preferences, Preferences::default());
    }
}
