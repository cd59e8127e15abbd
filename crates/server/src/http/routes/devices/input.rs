//! Reading and validating a device of a request.

use perigee_core::accounts::limits::Limits;
use perigee_core::accounts::retention::RETENTION_DAYS_MAX;
use perigee_core::day::Date;
use perigee_core::devices::device::DeviceSettings;
use perigee_core::gateways::gateway::DeviceIdentifier;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::notifications::notification::Channel;
use perigee_core::text::{Description, Line, Name, SHORT_MAX, ShortText};
use utoipa::openapi::{RefOr, Schema};

use super::decoding::DecodingInput;
use crate::http::input::{Member, Object, Objects, Part, Set, TRIMMED_LINE, TagMap, Whole, WholeU8, text};
use crate::http::json::{Field, Fields};
use crate::http::prelude::*;

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
    /// Settings of a device.
    pub(super) struct DeviceInput {
        /// Identifier under which the device reports, for example its IMEI, ESN or serial number. Unique among all
        /// identifiers of the account's devices. Must not begin with `dev_`, begin or end with a space, or be `.` or
        /// `..`. Null for none.
        identifier: Identifier, nullable, example "300234010753370";
        /// Further identifiers under which the device reports, for example the IMEI of its satellite modem. At most 20.
        /// Default: none.
        identifiers: Objects<IdentifierInput, 0, { DeviceIdentifier::COUNT_MAX }>, nullable, example [];
        /// Name of the device, shown in lists, on the map and in notifications. Need not be unique.
        name: Name, required, example "Northern Star";
        /// Free text about the device. Null for none.
        description: Description, nullable, example "Longliner, 24 m";
        /// Mobile number of the device's SIM card. Null for none. It is stored for reference.
        min: ShortText, nullable, example "+34600111222";
        /// Labels of the device, as keys and values: at most 64 labels, keys of 1 to 64 characters, values of at most
        /// 256 characters. Default: none.
        tags: TagMap, nullable, example {"colour": "red"};
        /// Name of the icon that represents the device on the map. Null for the default icon.
        icon: ShortText, nullable, example "boat";
        /// Model of the hardware: a model from `GET /api/trackerModels`, with or without its maker, or any other text.
        /// A known model sets how messages of some protocols are decoded. Null if unknown.
        model: ShortText, nullable, example "SmartOne C";
        /// Decoding settings: how messages of the device are decoded and its commands are encoded, where the device
        /// differs from others of its protocol. `GET /api/trackerModels` lists the settings. A change takes effect with
        /// the next message. Default: none.
        decoding: DecodingInput, nullable, example {"timeZoneMinutes": 480};
        /// Groups that the device belongs to, each given by its ID or by a name that only one group has. At most 1000.
        /// A change also requires the privilege `groups.write`. Default: none.
        groups: Set<GroupId, 0, { DeviceSettings::GROUPS_MAX }>, nullable, example [];
        /// Expiration date of the device, and limits of the notifications it may cause in a day. Default: no expiry, no
        /// limits.
        limits: Object<LimitsInput>, nullable;
        /// Expected reporting interval, in seconds. Null to use the interval learned from the device's reports
        /// (`learnedIntervalSeconds`).
        expected_interval_s as "expectedIntervalSeconds":
            Whole<1, { DeviceSettings::EXPECTED_INTERVAL_MAX_S }>, nullable, example 600;
        /// Retention of the device's locations, in days. Null to use the retention of the account. Older locations are
        /// deleted within a day and cannot be restored.
        retention_days as "retentionDays": Whole<1, RETENTION_DAYS_MAX>, nullable, example null;
    }
}

input! {
    /// Further identifier under which a device reports.
    pub(super) struct IdentifierInput {
        /// Identifier as the network or the hardware writes it. Unique among all identifiers of the account's devices.
        identifier: Identifier, required, example "300234063904190";
        /// Network over which the device reports under this identifier, as free text. Null if not given.
        link: ShortText, nullable, example "iridium";
        /// Order among the device's identifiers: the list is sorted by it, lowest first.
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
    /// Expiration date of a device, and limits of the notifications that it may cause in a day.
    pub(super) struct LimitsInput {
        /// Whether the device expires. `false` removes the expiration date. Default: `true` if `expirationDate` is
        /// given.
        expires: bool, nullable, example true;
        /// Last day on which the device is active, in the time zone of the account. Required if `expires` is `true`.
        /// Null for no expiry.
        expiration_date as "expirationDate": Date, nullable, example "2026-12-31";
        /// Maximum number of e-mails about the device in a day. Null for no limit, 0 to send none.
        daily_emails as "dailyEmailLimit": Whole<0, { Limits::DAILY_MAX }>, nullable, example 50;
        /// Maximum number of SMS about the device in a day. Null for no limit, 0 to send none.
        daily_sms as "dailySmsLimit": Whole<0, { Limits::DAILY_MAX }>, nullable, example 10;
        /// Part of each daily limit that is reserved for critical alerts: as many e-mails, and as many SMS. Default: 0.
        critical_reserve as "criticalReserve": Whole<0, { Limits::DAILY_MAX }>, nullable, example 2;
    }
}

/// The identifier of a device, which must be usable as part of a URL.
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

/// Reads the settings of a device.
pub(super) fn read_device(body: &Value) -> ApiResult<DeviceSettings> {
    read_body(body, &[ENVELOPE, READ_ONLY], |input: DeviceInput, fields| {
        let identifiers = input.identifiers.unwrap_or_default();
        let mut names: Vec<&str> = identifiers.iter().map(|each| each.identifier.as_str()).collect();
        names.extend(input.identifier.as_deref());
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            fields
                .refuse("identifiers", "must not contain an identifier twice, or the one in \"identifier\"");
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
            daily: Limits::daily_of([(Channel::EMAIL, self.daily_emails), (Channel::SMS, self.daily_sms)]),
            critical_reserve: self.critical_reserve.unwrap_or(0),
        })
    }
}

/// Removes `expires` where the change sets an expiration date and not `expires`: the value is that of the device before
/// the change, and would remove the new date.
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
        assert_eq!(limits(&json!({"expires": true, "expirationDate": "2026-12-31"})), Ok(dated.clone()));
        assert_eq!(limits(&json!({"expirationDate": "2026-12-31"})), Ok(dated));
        assert_eq!(limits(&json!({"expires": false, "expirationDate": "2026-12-31"})), Ok(Limits::default()));
        assert_eq!(
            limits(&json!({"dailyEmailLimit": 0, "dailySmsLimit": null, "criticalReserve": 1_000_000})),
            Ok(Limits {
                daily: [(Channel::EMAIL, 0)].into(),
                critical_reserve: 1_000_000,
                ..Limits::default()
            })
        );
    }

    #[test]
    fn identifiers_are_usable_in_a_url() {
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
    fn limits_are_refused_with_their_pointer() {
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
            "\"timezone\" is not a decoding setting; the settings are timeZoneMinutes, ",
        );
        check(json!({"hbm": 3}), "\"hbm\" must be a whole number from 0 to 2.");
        check(json!({"payload": "bits"}), "\"payload\" must be one of auto, text, records, ");
        check(
            json!({"payload": "template"}),
            "\"payload\" is \"template\", which requires the setting \"template\".",
        );
        check(
            json!({"format": "01,zz"}),
            "\"format\" must be a list of hexadecimal parameters such as 01,02,03,04,05.",
        );
        check(json!({"template": {"fields": [{"field": "a"}]}}), "\"template/fields/0/offset\" is missing.");
        let wide = json!({"template": {"fields": [{"field": "x".repeat(9_000), "offset": 0}]}});
        check(wide, "\"template\" must be a template of at most 8192 bytes.");
        check(json!([]), "\"decoding\" must be an object");
    }

    #[test]
    fn read_only_members_are_ignored() {
        for name in READ_ONLY.iter().chain(ENVELOPE) {
            assert!(read_device(&json!({"name": "Boat", *name: "x"})).is_ok(), "{name}");
            assert!(read_device(&json!({"name": "Boat", *name: null})).is_ok(), "{name}");
        }
    }
}
