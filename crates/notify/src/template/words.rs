//! The words of each language, from the files in `words/`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// All words of one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    /// Labels, by their English key.
    pub(super) label: BTreeMap<String, String>,
    /// How times and numbers are written.
    pub(super) time: TimeWords,
    /// Titles of alerts, by their name.
    pub(super) alert: BTreeMap<String, String>,
}

/// How times and numbers are written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimeWords {
    /// Short names of the months.
    pub(super) months: Vec<String>,
    /// The decimal separator: a point or a comma.
    pub(super) decimal: String,
}

static ENGLISH: LazyLock<Words> = LazyLock::new(|| read(include_str!("words/en.toml")));
static SPANISH: LazyLock<Words> = LazyLock::new(|| read(include_str!("words/es.toml")));

fn read(file: &str) -> Words {
    toml::from_str(file).expect("the message files are part of the program and read by its tests")
}

/// The words for a language tag; English if there are none.
pub(super) fn words(language: &str) -> &'static Words {
    let primary = language.split(['-', '_']).next().unwrap_or_default();
    if primary.eq_ignore_ascii_case("es") { &SPANISH } else { &ENGLISH }
}

/// The title of an alert of this name in a language; the name itself if it has no built-in meaning.
pub fn alert_title<'n>(name: &'n str, language: &str) -> &'n str {
    words(language).alert.get(name).map_or(name, String::as_str)
}

/// The tag of the language in which texts for this tag are written: `es` or `en`.
pub(super) fn supported_language(language: &str) -> &'static str {
    if std::ptr::eq(words(language), &raw const *SPANISH) { "es" } else { "en" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every name with built-in meaning, as the API's document lists them.
    const NAMES: &str = "GPSOff GPSNoSignal ForbiddenArea AllowedArea SOSButton SpeedLimit NoMovementTime Sensor1On \
        Sensor1Off Sensor2On Sensor2Off Sensor3On Sensor3Off Sensor4On Sensor4Off Sensor1Time Sensor2Time \
        Sensor3Time Sensor4Time SensorAccumulated1Time SensorAccumulated2Time SensorAccumulated3Time \
        SensorAccumulated4Time GPSUnplugged TemperatureGreaterThan TemperatureLowerThan Temperature2GreaterThan \
        Temperature2LessThan FuelJumpDown FuelJumpUp FuelLessThan FuelJumpDown2 FuelJumpUp2 FuelLessThan2 FutureDate \
        PastDate ExpiredDate Mileage Vibration RPM CheckPoint CheckArea Route SpeedLower Offline LowBattery \
        BatteryVoltage SleepMode AttributeEquals AttributeLessThan AttributeGreaterThan HarshBraking \
        HarshAcceleration AuthenticationFailed IdleTime TripDistance TripTime TripOutsideHours TripPurpose \
        TripNoDriver DrivingTime";

    #[test]
    fn every_language_says_everything() {
        for language in ["en", "es"] {
            let words = words(language);
            assert_eq!(words.alert.len(), NAMES.split_whitespace().count(), "{language}");
            for name in NAMES.split_whitespace() {
                assert!(words.alert.contains_key(name), "{name} in {language}");
            }
            assert_eq!(words.time.months.len(), 12);
            assert!(words.label.keys().eq(ENGLISH.label.keys()), "{language}");
        }
    }

    #[test]
    fn tags_lead_to_a_language() {
        let cases = [
            ("es", "es"),
            ("es-MX", "es"),
            ("ES_ar", "es"),
            ("en-GB", "en"),
            ("est", "en"),
            ("pt", "en"),
            ("", "en"),
        ];
        for (tag, expect) in cases {
            assert_eq!(supported_language(tag), expect, "{tag}");
        }
    }
}
