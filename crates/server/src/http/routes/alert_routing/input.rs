//! Reading alert routing from a request.

use perigee_core::notification::Channel;
use perigee_core::routing::{AlertRouting, Destination, Preferences, Recipient, RoutedWebhook, Units};
use perigee_core::severity::Severity;
use perigee_core::text::NAME_MAX;
use serde_json::Value;

use crate::http::edit::ENVELOPE;
use crate::http::error::{ApiResult, invalid_body};
use crate::http::json::Fields;
use crate::http::schedule::read_schedule;

const AN_ADDRESS: &str = "must be an e-mail address such as ana@example.com, of at most 254 characters";
const A_NUMBER: &str =
    "must be a telephone number in international form such as +34600123456, without spaces";

/// Reads what a client sets.
pub(super) fn read_routing(body: &Value) -> ApiResult<AlertRouting> {
    let mut fields = Fields::of(body).map_err(invalid_body)?;
    fields.ignore(ENVELOPE);
    fields.ignore(&["isSet", "inForce", "lastModified"]);
    let recipients =
        fields.objects("recipients", 0..=AlertRouting::RECIPIENTS_MAX, read_recipient).required();
    let webhooks = fields.objects("webhooks", 0..=AlertRouting::WEBHOOKS_MAX, read_webhook).nullable();
    let webhooks = webhooks.unwrap_or_default();
    fields.finish(|| Some(AlertRouting { recipients: recipients?, webhooks })).map_err(invalid_body)
}

fn read_webhook(fields: &mut Fields<'_>) -> Option<RoutedWebhook> {
    let webhook = fields.parsed("id", "a webhook's id such as whk_01jc2m8k4n5p6").required();
    let minimum_severity = read_severity(fields);
    let schedule = fields.object("schedule", read_schedule).nullable();
    Some(RoutedWebhook { webhook: webhook?, minimum_severity, schedule })
}

fn read_severity(fields: &mut Fields<'_>) -> Severity {
    let severities = Severity::ALL.map(|severity| (severity.name(), severity));
    fields.text("minimumSeverity").one_of(&severities).nullable().unwrap_or(Severity::Info)
}

fn read_recipient(fields: &mut Fields<'_>) -> Option<Recipient> {
    fields.ignore(&["status"]);
    let channels = [("email", Channel::Email), ("sms", Channel::Sms)];
    let channel = fields.text("channel").lower_case().one_of(&channels).required();
    let destination = fields.text("address").convert(|text| match channel {
        Some(Channel::Email) => text.parse().map(Destination::Email).map_err(|_other| AN_ADDRESS.into()),
        Some(Channel::Sms) => text.parse().map(Destination::Sms).map_err(|_other| A_NUMBER.into()),
        // The channel's problem was recorded already.
        None => text.parse().map(Destination::Email).or_else(|_other| {
            text.parse()
                .map(Destination::Sms)
                .map_err(|_neither| format!("{AN_ADDRESS}, or {A_NUMBER}").into())
        }),
    });
    let destination = destination.required();
    let minimum_severity = read_severity(fields);
    let schedule = fields.object("schedule", read_schedule).nullable();
    let preferences = read_preferences(fields);
    channel?;
    Some(Recipient { destination: destination?, preferences, minimum_severity, schedule })
}

/// Reads how somebody likes to read.
pub(in crate::http::routes) fn read_preferences(fields: &mut Fields<'_>) -> Preferences {
    let name = fields.text("name").chars(0..=NAME_MAX).nullable();
    let time_zone = fields.get("timeZone").nullable();
    let units = Units::ALL.map(|units| (units.name(), units));
    let units = fields.text("units").one_of(&units).nullable().unwrap_or_default();
    let language =
        fields.parsed("language", "a language such as \"en\" or \"pt-BR\"").nullable().unwrap_or_default();
    Preferences { name, time_zone, units, language }
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
