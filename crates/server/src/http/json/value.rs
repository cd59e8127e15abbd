//! Conversion of JSON values to types, and the messages that refuse other values.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use perigee_core::access::privilege::Privilege;
use perigee_core::accounts::country::Country;
use perigee_core::day::Date;
use perigee_core::drivers::DriverTag;
use perigee_core::id::{
    AccountId, AlertId, AuditId, DeviceId, DriverId, GeofenceId, GroupId, KeyId, RuleId, SegmentId,
    SessionId, ShareId, UserId,
};
use perigee_core::rules::schedule::Weekday;
use perigee_core::text::{TextError, check_length, check_lines, check_one_line};
use perigee_core::zone::Zone;
use serde_json::{Number, Value};

use super::hint::quote;

/// The end of a sentence that begins with the member's name: `must be a string, not a number`.
pub type Refusal = Cow<'static, str>;

/// A type that a JSON value converts to.
pub trait FromJson: Sized {
    /// Converts the value, or says what it must be.
    fn from_json(value: &Value) -> Result<Self, Refusal>;
}

/// Refuses a text with too few or too many characters, or with blanks alone where one character is needed.
pub fn check_chars(text: &str, allowed: &RangeInclusive<usize>) -> Result<(), Refusal> {
    check_length(text, *allowed.start(), *allowed.end()).map_err(refusal)
}

/// The error for a text that does not have the required form.
fn refusal(error: TextError) -> Refusal {
    error.to_string().into()
}

/// The type of a value, as messages name it.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

pub(super) fn must_be(what: &str, value: &Value) -> Refusal {
    format!("must be {what}, not {}", kind(value)).into()
}

pub(super) fn text_of(value: &Value) -> Result<&str, Refusal> {
    value.as_str().ok_or_else(|| must_be("a string", value))
}

/// A string in which line breaks and tabs are the only control characters.
pub(super) fn read_lines(value: &Value) -> Result<String, Refusal> {
    let text = text_of(value)?;
    check_lines(text).map_err(refusal)?;
    Ok(text.to_owned())
}

impl FromJson for String {
    fn from_json(value: &Value) -> Result<Self, Refusal> {
        let text = text_of(value)?;
        check_one_line(text).map_err(refusal)?;
        Ok(text.to_owned())
    }
}

impl FromJson for bool {
    fn from_json(value: &Value) -> Result<Self, Refusal> {
        value.as_bool().ok_or_else(|| must_be("true or false", value))
    }
}

impl FromJson for f64 {
    fn from_json(value: &Value) -> Result<Self, Refusal> {
        value.as_f64().ok_or_else(|| must_be("a number", value))
    }
}

/// Whether the value is a whole number in any spelling: `5.0` and `5e0` are 5.
pub(super) fn is_whole(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// The value as a whole number, saturated at the limits of `i128`.
fn whole(number: &Number) -> Option<i128> {
    let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole floats are exact, and too large ones saturate"
    )]
    integer.or_else(|| number.as_f64().map(|float| float as i128))
}

macro_rules! integers {
    ($($integer:ty)+) => {$(
        impl FromJson for $integer {
            fn from_json(value: &Value) -> Result<Self, Refusal> {
                let Value::Number(number) = value else {
                    return Err(must_be("a whole number", value));
                };
                if !is_whole(value) {
                    return Err(format!("must be a whole number, not {number}").into());
                }
                whole(number).and_then(|whole| Self::try_from(whole).ok()).ok_or_else(|| {
                    format!("must be a whole number between {} and {}", Self::MIN, Self::MAX).into()
                })
            }
        }
    )+};
}

integers!(u8 u16 u32 u64 i32 i64);

macro_rules! texts {
    ($($text:ty => $must:literal;)+) => {$(
        impl FromJson for $text {
            fn from_json(value: &Value) -> Result<Self, Refusal> {
                let text = text_of(value)?;
                text.parse().map_err(|_not_one| concat!("must be ", $must).into())
            }
        }
    )+};
}

texts! {
    Date => "a date of the calendar such as \"2026-05-01\"";
    Zone => "an IANA time zone such as \"Europe/Madrid\"; /api/users/timeZones lists them";
    Privilege => "one of owner, admin, devices.write, groups.write, users.write, locations.write, alerts.write, commands.send, rules.write, api";
    Weekday => "a day of the week such as \"monday\"";
    DriverTag => "a key tag of at most 100 letters and digits, not only zeros and separators";
    Country => "a two-letter country code such as \"ES\" or an English country name; /api/users/countries lists them";
}

macro_rules! ids {
    ($($id:ty => $what:literal;)+) => {$(
        impl FromJson for $id {
            fn from_json(value: &Value) -> Result<Self, Refusal> {
                let text = text_of(value)?;
                text.parse().map_err(|_not_one| {
                    let (prefix, given) = (Self::PREFIX, quote(text));
                    format!(concat!("must be the ID of ", $what, ", \"{}...\", not {}"), prefix, given).into()
                })
            }
        }
    )+};
}

ids! {
    AccountId => "an account";
    UserId => "a user";
    DeviceId => "a device";
    GroupId => "a group";
    AlertId => "an alert";
    ShareId => "a share link";
    SessionId => "a session";
    KeyId => "an API key";
    AuditId => "an audit entry";
    RuleId => "a rule";
    GeofenceId => "a geofence";
    SegmentId => "a segment";
    DriverId => "a driver";
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check<T: FromJson + std::fmt::Debug>(value: &Value, refusal: &str) {
        assert_eq!(T::from_json(value).unwrap_err(), refusal, "{value}");
    }

    #[test]
    fn whole_numbers_are_whole() {
        assert_eq!(u64::from_json(&json!(u64::MAX)), Ok(u64::MAX));
        assert_eq!(i64::from_json(&json!(i64::MIN)), Ok(i64::MIN));
        assert_eq!(u8::from_json(&json!(255)), Ok(255));
        check::<u8>(&json!(256), "must be a whole number between 0 and 255");
        check::<u32>(&json!(-1), "must be a whole number between 0 and 4294967295");
        check::<u32>(&json!(5.5), "must be a whole number, not 5.5");
        check::<u32>(&json!(1e300), "must be a whole number between 0 and 4294967295");
        check::<u32>(&json!("5"), "must be a whole number, not a string");
    }

    #[test]
    fn whole_numbers_may_be_written_with_a_point_or_an_exponent() {
        for (text, expect) in
            [("5.0", 5), ("1e2", 100), ("12.50e1", 125), ("-0.0", 0), ("4294967295.0", u32::MAX)]
        {
            let value = super::super::parse_strict(text.as_bytes()).unwrap();
            assert_eq!(u32::from_json(&value), Ok(expect), "{text}");
        }
        assert_eq!(i64::from_json(&json!(-9_223_372_036_854_775_808.0)), Ok(i64::MIN));
        check::<i64>(
            &json!(9_223_372_036_854_775_808.0),
            "must be a whole number between -9223372036854775808 and 9223372036854775807",
        );
        check::<u8>(&json!(256.0), "must be a whole number between 0 and 255");
        check::<u32>(&json!(1e-3), "must be a whole number, not 0.001");
    }

    #[test]
    fn refusals_say_what_is_accepted() {
        check::<String>(&json!(5), "must be a string, not a number");
        check::<String>(&json!("a\tb"), "must be one line without control characters");
        check::<String>(&json!("a\u{9f}"), "must be one line without control characters");
        check::<bool>(&json!(0), "must be true or false, not a number");
        check::<f64>(&json!([]), "must be a number, not an array");
        check::<Date>(&json!("2026-02-30"), "must be a date of the calendar such as \"2026-05-01\"");
        check::<Zone>(&json!({}), "must be a string, not an object");
        check::<DeviceId>(&json!("grp_1"), "must be the ID of a device, \"dev_...\", not \"grp_1\"");
        assert_eq!(Country::from_json(&json!("spain")).map(Country::code), Ok("ES"));
        assert_eq!(f64::from_json(&json!(5)), Ok(5.0));
    }

    #[test]
    fn texts_are_counted_in_characters() {
        assert_eq!(check_chars("äöü", &(3..=3)), Ok(()));
        assert_eq!(check_chars("", &(0..=3)), Ok(()));
        assert_eq!(check_chars("  ", &(0..=3)), Ok(()));
        assert_eq!(check_chars("  ", &(1..=3)), Err("must not be empty".into()));
        assert_eq!(check_chars("ab", &(3..=9)), Err("must have at least 3 characters; it has 2".into()));
        assert_eq!(check_chars("abcd", &(0..=3)), Err("must have at most 3 characters; it has 4".into()));
    }
}
