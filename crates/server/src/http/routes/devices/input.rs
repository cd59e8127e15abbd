//! Reading and validating a device of a request.

use std::collections::BTreeMap;

use perigee_core::day::Date;
use perigee_core::device::DeviceSettings;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::limits::Limits;
use perigee_core::retention::RETENTION_DAYS_MAX;
use perigee_core::text::{DESCRIPTION_MAX, NAME_MAX, SHORT_MAX, TAG_KEY_MAX, TAG_VALUE_MAX, TAGS_MAX};
use serde_json::Value;
use utoipa::ToSchema;

use crate::http::edit::ENVELOPE;
use crate::http::error::{ApiResult, invalid_body};
use crate::http::json::{Fields, MapLimits};

const READ_ONLY: &[&str] = &[
    "id",
    "state",
    "expires",
    "counters",
    "status",
    "lastSeen",
    "learnedIntervalSeconds",
    "protocol",
    "creation",
    "lastModified",
];
const TAGS: MapLimits = MapLimits { entries: TAGS_MAX, key_chars: TAG_KEY_MAX, value_chars: TAG_VALUE_MAX };

/// What a client sets of a device.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read")]
pub struct DeviceInput {
    /// What the hardware says of itself: IMEI, ESN, serial; unique in the account. It may not begin
    /// with `dev_`, begin or end with a blank, or be `.` or `..`.
    #[schema(example = "300234010753370", min_length = 1, max_length = 100)]
    identifier: Option<String>,
    /// Its name.
    #[schema(example = "Northern Star", min_length = 1, max_length = 200)]
    name: String,
    /// A note about it.
    #[schema(example = "Longliner, 24 m", max_length = 2000)]
    description: Option<String>,
    /// Its mobile number.
    #[schema(example = "+34600111222", max_length = 100)]
    min: Option<String>,
    /// Free labels: at most 64, keys of 1 to 64 characters, values of at most 256.
    #[schema(example = json!({"colour": "red"}))]
    tags: Option<BTreeMap<String, String>>,
    /// The icon it is drawn with.
    #[schema(example = "boat", max_length = 100)]
    icon: Option<String>,
    /// What kind of hardware it is.
    #[schema(example = "SmartOne C", max_length = 100)]
    model: Option<String>,
    /// The groups it is in, by id or by a name that only one has. Changing them needs `groups.write` too.
    #[schema(example = json!([]), max_items = 1000)]
    groups: Option<Vec<String>>,
    /// Its expiry and daily limits; none at all when left out.
    #[schema(value_type = Option<LimitsInput>)]
    limits: Option<LimitsInput>,
    /// How often it is expected to report, in seconds; null to go by what is learned from its reports.
    #[schema(example = 600, minimum = 1, maximum = 2_678_400)]
    expected_interval_seconds: Option<u32>,
    /// Days that its locations are kept; null for as long as the account's settings say. What is older is deleted
    /// within a day and cannot be brought back.
    #[schema(example = json!(null), minimum = 1, maximum = 36_500)]
    retention_days: Option<u32>,
}

/// A device's expiry and daily limits, as a client sets them.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read")]
pub struct LimitsInput {
    /// Whether it expires; false clears the date. Left out, it follows from the date.
    #[schema(example = true)]
    expires: Option<bool>,
    /// The last date it is active on, in the account's time zone. Required when `expires` is true.
    #[schema(example = "2026-12-31", format = Date)]
    expiration_date: Option<String>,
    /// E-mails a day; null is no limit, 0 is none at all.
    #[schema(example = 50, minimum = 0, maximum = 1_000_000)]
    daily_email_limit: Option<u32>,
    /// SMS a day; null is no limit, 0 is none at all.
    #[schema(example = 10, minimum = 0, maximum = 1_000_000)]
    daily_sms_limit: Option<u32>,
    /// How many of the day's e-mails, and of its SMS, are kept for critical alerts.
    #[schema(example = 2, minimum = 0, maximum = 1_000_000)]
    critical_reserve: Option<u32>,
}

/// Reads what a client sets of a device.
pub(super) fn read_device(body: &Value) -> ApiResult<DeviceSettings> {
    let mut fields = Fields::of(body).map_err(invalid_body)?;
    fields.ignore(ENVELOPE);
    fields.ignore(READ_ONLY);
    let identifier = fields.text("identifier").chars(1..=SHORT_MAX).check(|text| {
        if text.starts_with(DeviceId::PREFIX) {
            Err("must not begin with \"dev_\", which our own ids begin with".into())
        } else if text.trim() != text {
            Err("must not begin or end with a blank, which nobody would see".into())
        } else if matches!(text.as_str(), "." | "..") {
            Err("must not be \".\" or \"..\", which cannot stand in an address".into())
        } else {
            Ok(())
        }
    });
    let identifier = identifier.nullable();
    let name = fields.text("name").chars(1..=NAME_MAX).required();
    let description = fields.multiline_text("description").chars(0..=DESCRIPTION_MAX).nullable();
    let min = fields.text("min").chars(0..=SHORT_MAX).nullable();
    let tags = fields.string_map("tags", TAGS).nullable().unwrap_or_default();
    let icon = fields.text("icon").chars(0..=SHORT_MAX).nullable();
    let model = fields.text("model").chars(0..=SHORT_MAX).nullable();
    let groups = fields.array::<GroupId>("groups", 0..=DeviceSettings::GROUPS_MAX).unique().nullable();
    let limits = fields.object("limits", read_limits).nullable().unwrap_or_default();
    let longest = DeviceSettings::EXPECTED_INTERVAL_MAX_S;
    let expected_interval_s = fields.integer("expectedIntervalSeconds", 1..=longest).nullable();
    let retention_days = fields.integer("retentionDays", 1..=RETENTION_DAYS_MAX).nullable();
    let settings = fields.finish(|| {
        let mut groups = groups.unwrap_or_default();
        groups.sort_unstable();
        let name = name?;
        Some(DeviceSettings {
            identifier,
            name,
            description,
            min,
            tags,
            icon,
            model,
            groups,
            limits,
            expected_interval_s,
            retention_days,
        })
    });
    settings.map_err(invalid_body)
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

#[expect(clippy::unnecessary_wraps, reason = "what reads an object may find too little in it")]
fn read_limits(limits: &mut Fields<'_>) -> Option<Limits> {
    let expires = limits.boolean("expires").nullable();
    let date: Option<Date> = limits.get("expirationDate").nullable();
    if expires == Some(true) && limits.raw("expirationDate").nullable().is_none() {
        limits.refuse("expirationDate", "is required when \"expires\" is true, such as \"2026-12-31\"");
    }
    let daily_emails = limits.integer("dailyEmailLimit", 0..=Limits::DAILY_MAX).nullable();
    let daily_sms = limits.integer("dailySmsLimit", 0..=Limits::DAILY_MAX).nullable();
    let critical_reserve = limits.integer("criticalReserve", 0..=Limits::DAILY_MAX).nullable().unwrap_or(0);
    let expiration_date = date.filter(|_| expires != Some(false));
    Some(Limits { expiration_date, daily_emails, daily_sms, critical_reserve })
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
    fn what_only_answers_have_is_ignored() {
        for name in READ_ONLY.iter().chain(ENVELOPE) {
            assert!(read_device(&json!({"name": "Boat", *name: "x"})).is_ok(), "{name}");
            assert!(read_device(&json!({"name": "Boat", *name: null})).is_ok(), "{name}");
        }
    }
}
