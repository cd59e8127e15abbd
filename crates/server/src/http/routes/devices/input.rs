//! Reading and validating a device of a request.

use perigee_core::day::Date;
use perigee_core::device::DeviceSettings;
use perigee_core::gateway::DeviceIdentifier;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::limits::Limits;
use perigee_core::retention::RETENTION_DAYS_MAX;
use perigee_core::text::{Description, Line, Name, SHORT_MAX, ShortText};
use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};

use super::decoding::DecodingInput;
use crate::http::edit::ENVELOPE;
use crate::http::error::ApiResult;
use crate::http::input::{
    Member, Object, Objects, Part, Set, TRIMMED_LINE, TagMap, Whole, WholeU8, input, read_body, text,
};
use crate::http::json::{Field, Fields};

const READ_ONLY: &[&str] = &[
    "id",
    "state",
    "expires",
    "counters",
    "status",
    "lastSeen",
    "learnedIntervalSeconds",
    "protocol",
    "photo",
    "reportedModel",
    "proposedTimeZoneMinutes",
    "creation",
    "lastModified",
    "place",
];

input! {
    /// What a client sets of a device.
    pub(super) struct DeviceInput {
        /// What the hardware says of itself: IMEI, ESN, serial; unique in the account. It may not begin
        /// with `dev_`, begin or end with a blank, or be `.` or `..`.
        identifier: Identifier, nullable, example "300234010753370";
        /// Further names under which it reports, for example the IMEI of its satellite modem; at most 20.
        identifiers: Objects<IdentifierInput, 0, { DeviceIdentifier::COUNT_MAX }>, nullable, example [];
        /// Shown in lists, on the map and in messages.
        name: Name, required, example "Northern Star";
        /// A note about it.
        description: Description, nullable, example "Longliner, 24 m";
        /// Mobile number of the device's SIM card.
        min: ShortText, nullable, example "+34600111222";
        /// Free labels: at most 64, keys of 1 to 64 characters, values of at most 256.
        tags: TagMap, nullable, example {"colour": "red"};
        /// The icon it is drawn with.
        icon: ShortText, nullable, example "boat";
        /// What kind of hardware it is: a model of `GET /api/trackerModels`, with or without its maker, or any text. Messages
        /// of some protocols are read by the model.
        model: ShortText, nullable, example "SmartOne C";
        /// How its messages are read and its commands written, where that differs from other devices of its protocol; see
        /// `GET /api/trackerModels`. It takes effect with the next message.
        decoding: DecodingInput, nullable, example {"timeZoneMinutes": 480};
        /// The groups it is in, by id or by a name that only one has. Changing them needs `groups.write` too.
        groups: Set<GroupId, 0, { DeviceSettings::GROUPS_MAX }>, nullable, example [];
        /// Its expiry and daily limits; none at all when left out.
        limits: Object<LimitsInput>, nullable;
        /// How often it is expected to report, in seconds; null to go by what is learned from its reports.
        expected_interval_s as "expectedIntervalSeconds":
            Whole<1, { DeviceSettings::EXPECTED_INTERVAL_MAX_S }>, nullable, example 600;
        /// Days that its locations are kept; null for as long as the account's settings say. What is older is deleted
        /// within a day and cannot be brought back.
        retention_days as "retentionDays": Whole<1, RETENTION_DAYS_MAX>, nullable, example null;
    }
}

input! {
    /// A further name under which a device reports.
    pub(super) struct IdentifierInput {
        /// As the network or the hardware writes it; unique among all identifiers of the account's devices.
        identifier: Identifier, required, example "300234063904190";
        /// The way by which it reports under this name.
        link: ShortText, nullable, example "iridium";
        /// Order among the device's identifiers; the lowest is preferred.
        priority: WholeU8<0, { DeviceIdentifier::PRIORITY_MAX }>, or(0), example 1;
    }
}

impl Part for IdentifierInput {
    type Value = DeviceIdentifier;

    fn make(self, _: &mut Fields<'_>) -> Option<DeviceIdentifier> {
        Some(DeviceIdentifier { identifier: self.identifier?, link: self.link, priority: self.priority })
    }
}

input! {
    /// A device's expiry and daily limits, as a client sets them.
    pub(super) struct LimitsInput {
        /// Whether it expires; false clears the date. Left out, it follows from the date.
        expires: bool, nullable, example true;
        /// The last date it is active on, in the account's time zone. Required when `expires` is true.
        expiration_date as "expirationDate": Date, nullable, example "2026-12-31";
        /// E-mails a day; null is no limit, 0 is none at all.
        daily_emails as "dailyEmailLimit": Whole<0, { Limits::DAILY_MAX }>, nullable, example 50;
        /// SMS a day; null is no limit, 0 is none at all.
        daily_sms as "dailySmsLimit": Whole<0, { Limits::DAILY_MAX }>, nullable, example 10;
        /// How many of the day's e-mails, and of its SMS, are kept for critical alerts.
        critical_reserve as "criticalReserve": Whole<0, { Limits::DAILY_MAX }>, nullable, example 2;
    }
}

/// The identifier of a device, which must be able to stand in an address.
pub(super) enum Identifier {}

impl Member for Identifier {
    type Value = String;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, String> {
        Line::<1, SHORT_MAX>::read(fields, name).check(|text| {
            if text.starts_with(DeviceId::PREFIX) {
                Err("must not begin with \"dev_\", which is reserved for IDs".into())
            } else if text.trim() != text {
                Err("must not begin or end with a space".into())
            } else if matches!(text.as_str(), "." | "..") {
                Err("must not be \".\" or \"..\", which cannot be part of a URL".into())
            } else {
                Ok(())
            }
        })
    }

    fn schema() -> RefOr<Schema> {
        text(1, SHORT_MAX, |text| text.pattern(Some(TRIMMED_LINE)))
    }
}

/// Reads what a client sets of a device.
pub(super) fn read_device(body: &Value) -> ApiResult<DeviceSettings> {
    read_body(body, &[ENVELOPE, READ_ONLY], |input: DeviceInput, fields| {
        let identifiers = input.identifiers.unwrap_or_default();
        let mut names: Vec<&str> = identifiers.iter().map(|each| each.identifier.as_str()).collect();
        names.extend(input.identifier.as_deref());
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            fields.refuse("identifiers", "must not name an identifier twice, or the one in \"identifier\"");
        }
        let mut groups = input.groups.unwrap_or_default();
        groups.sort_unstable();
        Some(DeviceSettings {
            identifier: input.identifier,
            identifiers,
            name: input.name?,
            description: input.description,
            min: input.min,
            tags: input.tags.unwrap_or_default(),
            icon: input.icon,
            model: input.model,
            decoding: input.decoding.unwrap_or_default(),
            groups,
            limits: input.limits.unwrap_or_default(),
            expected_interval_s: input.expected_interval_s,
            retention_days: input.retention_days,
        })
    })
}

impl Part for LimitsInput {
    type Value = Limits;

    fn make(self, fields: &mut Fields<'_>) -> Option<Limits> {
        if self.expires == Some(true) && fields.raw("expirationDate").nullable().is_none() {
            fields.refuse("expirationDate", "is required when \"expires\" is true, such as \"2026-12-31\"");
        }
        Some(Limits {
            expiration_date: self.expiration_date.filter(|_| self.expires != Some(false)),
            daily_emails: self.daily_emails,
            daily_sms: self.daily_sms,
            critical_reserve: self.critical_reserve.unwrap_or(0),
        })
    }
}

/// Lets a device expire that was given a date and nothing said of whether it expires: `expires` then only tells how
/// it was before.
pub(super) fn follow_date(device: &mut Value) {
    if let Some(limits) = device.get_mut("limits").and_then(Value::as_object_mut)
        && limits.get("expirationDate").is_some_and(|date| !date.is_null())
    {
        limits.remove("expires");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn limits(value: &Value) -> Result<Limits, (String, String)> {
        let body = json!({"name": "Boat", "limits": value});
        read_device(&body).map(|settings| settings.limits).map_err(|error| {
            assert_eq!(error.problems.len(), 1, "{error:?}");
            (error.problems[0].pointer.to_string(), error.message)
        })
    }

    #[test]
    fn limits_follow_their_rules() {
        let date: Option<Date> = "2026-12-31".parse().ok();
        let dated = Limits { expiration_date: date, ..Limits::default() };
        assert_eq!(limits(&json!(null)), Ok(Limits::default()));
        assert_eq!(limits(&json!({})), Ok(Limits::default()));
        assert_eq!(limits(&json!({"expires": true, "expirationDate": "2026-12-31"})), Ok(dated));
        assert_eq!(limits(&json!({"expirationDate": "2026-12-31"})), Ok(dated));
        assert_eq!(limits(&json!({"expires": false, "expirationDate": "2026-12-31"})), Ok(Limits::default()));
        assert_eq!(
            limits(&json!({"dailyEmailLimit": 0, "dailySmsLimit": null, "criticalReserve": 1_000_000})),
            Ok(Limits { daily_emails: Some(0), critical_reserve: 1_000_000, ..Limits::default() })
        );
    }

    #[test]
    fn identifiers_can_stand_in_an_address() {
        let check = |identifier: &str, expect: bool| {
            let body = json!({"name": "Boat", "identifier": identifier});
            assert_eq!(read_device(&body).is_ok(), expect, "{identifier:?}");
        };
        check("300234010753370", true);
        check("a b", true);
        check("...", true);
        check("a/b", true);
        for refused in [".", "..", " a", "a ", "\u{a0}a", "dev_a", ""] {
            check(refused, false);
        }
    }

    #[test]
    fn limits_are_refused_in_their_place() {
        let check = |value: &Value, pointer: &str, message: &str| {
            assert_eq!(limits(value), Err((pointer.to_owned(), message.to_owned())));
        };
        let required = "\"expirationDate\" is required when \"expires\" is true, such as \"2026-12-31\".";
        check(&json!({"expires": true}), "/limits/expirationDate", required);
        check(&json!({"expires": true, "expirationDate": null}), "/limits/expirationDate", required);
        check(
            &json!({"expires": true, "expirationDate": "2026-02-30"}),
            "/limits/expirationDate",
            "\"expirationDate\" must be a date of the calendar such as \"2026-05-01\".",
        );
        check(
            &json!({"dailySmsLimit": 1_000_001}),
            "/limits/dailySmsLimit",
            "\"dailySmsLimit\" must be a whole number between 0 and 1000000, not 1000001.",
        );
        check(&json!({"sms": 1}), "/limits/sms", "Unknown member \"sms\". Leave it out.");
        check(&json!(5), "/limits", "\"limits\" must be an object, not a number.");
    }

    #[test]
    fn settings_for_decoding_are_checked() {
        let decoding = |value: &Value| {
            let body = json!({"name": "Boat", "decoding": value});
            read_device(&body).map(|settings| settings.decoding).map_err(|error| error.message)
        };
        let set = decoding(&json!({"timeZoneMinutes": 330, "adc": true, "hbm": null})).unwrap();
        assert_eq!(serde_json::to_value(&set).unwrap(), json!({"timeZoneMinutes": 330, "adc": true}));
        assert!(decoding(&json!(null)).unwrap().is_empty());
        let check = |value: Value, expect: &str| {
            let error = decoding(&value).unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        check(
            json!({"timezone": 1}),
            "\"timezone\" is not an option of devices; there are timeZoneMinutes, ",
        );
        check(json!({"hbm": 3}), "\"hbm\" must be a whole number from 0 to 2.");
        check(json!({"payload": "bits"}), "\"payload\" must be one of auto, text, records, ");
        check(json!({"payload": "template"}), "\"payload\" needs \"template\" beside it.");
        check(json!({"format": "01,zz"}), "\"format\" must be a list of parameters such as 01,02,03,04,05.");
        check(json!({"template": {"fields": [{"field": "a"}]}}), "\"template/fields/0/offset\" is missing.");
        let wide = json!({"template": {"fields": [{"field": "x".repeat(9_000), "offset": 0}]}});
        check(wide, "\"template\" must be a template of at most 8192 bytes.");
        check(json!([]), "\"decoding\" must be an object");
    }

    #[test]
    fn what_only_answers_have_is_ignored() {
        for name in READ_ONLY.iter().chain(ENVELOPE) {
            assert!(read_device(&json!({"name": "Boat", *name: "x"})).is_ok(), "{name}");
            assert!(read_device(&json!({"name": "Boat", *name: null})).is_ok(), "{name}");
        }
    }
}
