//! Time zones by IANA id, from the database built into the program.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::LazyLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Names in the database that are not real time zones.
const NO_ZONES: [&str; 4] = ["Factory", "posixrules", "localtime", "Etc/Unknown"];

/// The built-in database, so that results do not depend on the machine.
static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Every id, sorted by its lower case form, for the binary search in [`position`].
static IDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut ids: Vec<String> = DATABASE
        .available()
        .map(|name| name.to_string())
        .filter(|id| !NO_ZONES.contains(&id.as_str()))
        .collect();
    ids.sort_by_cached_key(|id| id.to_ascii_lowercase());
    ids
});

fn position(text: &str) -> Option<usize> {
    let wanted = text.to_ascii_lowercase();
    IDS.binary_search_by(|id| id.bytes().map(|byte| byte.to_ascii_lowercase()).cmp(wanted.bytes())).ok()
}

/// The error for a text that is not a time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an IANA time zone such as Europe/Madrid")]
pub struct ParseZoneError;

/// A time zone with an IANA id such as `Europe/Madrid`. Cloning it is cheap.
#[derive(Clone)]
pub struct Zone(TimeZone);

impl Zone {
    /// UTC, the default time zone.
    pub const fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// The ids of all zones, in alphabetical order.
    pub fn all() -> impl ExactSizeIterator<Item = &'static str> {
        IDS.iter().map(String::as_str)
    }

    /// The id, spelled as in the database.
    pub fn id(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// A label with the present offset from UTC: `(UTC+01:00) Europe/Madrid`.
    pub fn label(&self, now: Timestamp) -> String {
        let offset = self.0.to_offset(now.to_jiff()).seconds();
        let sign = if offset < 0 { '-' } else { '+' };
        let (hours, minutes) = (offset.abs() / 3600, offset.abs() / 60 % 60);
        format!("(UTC{sign}{hours:02}:{minutes:02}) {}", self.id().replace('_', " "))
    }

    /// The same zone for calendar arithmetic.
    pub fn as_jiff(&self) -> &TimeZone {
        &self.0
    }
}

impl FromStr for Zone {
    type Err = ParseZoneError;

    /// Reads an id in any letter case.
    fn from_str(text: &str) -> Result<Self, ParseZoneError> {
        let id = position(text).and_then(|index| IDS.get(index)).ok_or(ParseZoneError)?;
        DATABASE.get(id).map(Self).map_err(|_unreadable| ParseZoneError)
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Zone {}

impl Hash for Zone {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl Serialize for Zone {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expect: Option<&str>) {
        let read = input.parse::<Zone>().ok();
        assert_eq!(read.as_ref().map(Zone::id), expect, "{input}");
    }

    #[test]
    fn reads_ids_in_any_case() {
        check("Europe/Madrid", Some("Europe/Madrid"));
        check("europe/madrid", Some("Europe/Madrid"));
        check("AMERICA/ARGENTINA/BUENOS_AIRES", Some("America/Argentina/Buenos_Aires"));
        check("utc", Some("UTC"));
        check("Asia/Calcutta", Some("Asia/Calcutta"));
        check("etc/gmt+5", Some("Etc/GMT+5"));
    }

    #[test]
    fn refuses_what_is_no_zone() {
        for input in
            ["", " ", "Factory", "posixrules", "localtime", "Etc/Unknown", "Europe", "+01:00", "CEST"]
        {
            check(input, None);
        }
        check("Europe/Madrid ", None);
        check("../../etc/passwd", None);
        check("EST5EDT,M3.2.0,M11.1.0", None);
        check("Europe/Madrid\0", None);
    }

    #[test]
    fn every_listed_id_is_a_zone_and_reads_back() {
        assert!(Zone::all().len() > 500);
        for id in Zone::all() {
            check(id, Some(id));
            check(&id.to_ascii_uppercase(), Some(id));
        }
        assert!(Zone::all().any(|id| id == Zone::utc().id()));
    }

    #[test]
    fn labels_show_the_offset_of_the_moment() {
        let check = |id: &str, now: &str, expect: &str| {
            let zone: Zone = id.parse().unwrap();
            assert_eq!(zone.label(now.parse().unwrap()), expect);
        };
        check("Europe/Madrid", "2026-01-15T00:00:00Z", "(UTC+01:00) Europe/Madrid");
        check("Europe/Madrid", "2026-07-15T00:00:00Z", "(UTC+02:00) Europe/Madrid");
        check("America/St_Johns", "2026-01-15T00:00:00Z", "(UTC-03:30) America/St Johns");
        check("Asia/Kathmandu", "2026-01-15T00:00:00Z", "(UTC+05:45) Asia/Kathmandu");
        check("UTC", "2026-01-15T00:00:00Z", "(UTC+00:00) UTC");
    }

    #[test]
    fn is_text_in_json() {
        let zone: Zone = serde_json::from_str("\"asia/tokyo\"").unwrap();
        assert_eq!(serde_json::to_string(&zone).unwrap(), "\"Asia/Tokyo\"");
        assert!(serde_json::from_str::<Zone>("\"Asia/Atlantis\"").is_err());
    }
}
