//! Builds a location from the texts of a file.

use perigee_core::time::Timestamp;
use serde_json::{Map, Value};

/// Larger numbers are milliseconds since 1970, smaller ones seconds, which reach this in the year 5138.
const LEAST_MILLIS: f64 = 1e11;

/// A location being built.
#[derive(Debug, Default)]
pub(super) struct Draft(pub(super) Map<String, Value>);

impl Draft {
    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Sets a number exactly as written. Other text is kept, so that the server rejects it with a reason.
    pub(super) fn set_number(&mut self, name: &str, text: &str) {
        let text = text.trim();
        let number = serde_json::from_str(text).ok().filter(Value::is_number);
        let number =
            number.or_else(|| text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from));
        self.set(name, number.unwrap_or_else(|| text.into()));
    }

    /// Sets a speed given in metres per second.
    pub(super) fn set_speed_ms(&mut self, text: &str) {
        match text.trim().parse::<f64>() {
            Ok(speed) => self.set("speed", (speed * 3600.0).round() / 1000.0),
            Err(_) => self.set("speed", text.trim()),
        }
    }

    pub(super) fn set_time(&mut self, text: &str) {
        let time = instant(text).map_or_else(|| text.trim().to_owned(), |time| time.to_string());
        self.set("dateTime", time);
    }

    /// The location, if the required fields are set.
    pub(super) fn finish(self) -> Result<Vec<u8>, String> {
        for (name, lack) in [("dateTime", "time"), ("latitude", "latitude"), ("longitude", "longitude")] {
            if !self.0.contains_key(name) {
                return Err(format!("it has no {lack}"));
            }
        }
        serde_json::to_vec(&self.0).map_err(|error| error.to_string())
    }
}

/// Parses an instant: RFC 3339, the same without a zone (UTC), or a number since 1970.
pub(super) fn instant(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(instant) = text.parse() {
        return Some(instant);
    }
    if let Ok(number) = text.parse::<f64>() {
        let millis = if number.abs() < LEAST_MILLIS { number * 1000.0 } else { number };
        return whole(millis).map(Timestamp::from_millis);
    }
    let with_t = text.replacen([' ', '/'], "T", 1);
    with_t.parse().or_else(|_| format!("{with_t}Z").parse()).ok()
}

#[expect(clippy::cast_possible_truncation, reason = "bounded by the calendar")]
fn whole(millis: f64) -> Option<i64> {
    (millis.abs() < 253_402_207_200_000.0).then(|| millis.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_understood() {
        for (text, expect) in [
            ("2026-05-01T12:00:00Z", Some("2026-05-01T12:00:00Z")),
            ("2026-05-01T12:00:00.250+02:00", Some("2026-05-01T10:00:00.250Z")),
            ("2026-05-01 12:00:00", Some("2026-05-01T12:00:00Z")),
            ("1777636800", Some("2026-05-01T12:00:00Z")),
            ("1777636800500", Some("2026-05-01T12:00:00.500Z")),
            ("yesterday", None),
            ("1e300", None),
            ("", None),
        ] {
            assert_eq!(instant(text).map(|found| found.to_string()).as_deref(), expect, "{text}");
        }
    }
}
