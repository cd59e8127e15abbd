//! The words of each language, from the files in `words/`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::notifications::routing::Language;
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
    /// Texts of e-mails that accounts cannot change, with the placeholders `{account}` and `{link}`.
    pub(super) mail: MailWords,
    /// A test notification, with the placeholders `{account}` and `{device}`.
    pub(super) test: TestWords,
    /// A message about an SOS of a device that is not registered or has expired.
    pub(super) sos: SosWords,
    /// The mail with a scheduled report.
    pub(super) report: ReportWords,
}

/// How times and numbers are written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimeWords {
    /// Short names of the months.
    pub(super) months: Vec<String>,
    /// The decimal separator: a point or a comma.
    pub(super) decimal: String,
    /// Follows the number of the day: "2. Mai".
    pub(super) after_day: String,
    /// The letter of eastern longitudes.
    pub(super) east: String,
    /// The letter of western longitudes.
    pub(super) west: String,
}

/// Texts of e-mails that accounts cannot change.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MailWords {
    pub(super) footer: String,
    pub(super) confirm_subject: String,
    pub(super) confirm_text: String,
    pub(super) invitation_subject: String,
    pub(super) invitation_text: String,
    pub(super) reset_subject: String,
    pub(super) reset_text: String,
}

/// A test notification.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TestWords {
    pub(super) subject: String,
    pub(super) text: String,
    /// Of the test that a user sends to their own browser.
    pub(super) browser_subject: String,
    pub(super) browser_text: String,
}

/// The mail with a scheduled report. `period` has the placeholders `{from}`, `{to}` and `{zone}`; `attached` and
/// `too_large` have `{file}` and `{size}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportWords {
    pub(super) period: String,
    pub(super) rows: String,
    pub(super) attached: String,
    pub(super) too_large: String,
    pub(super) page: String,
}

/// A message about an SOS of a device that is not registered or has expired. The subjects have the placeholder
/// `{device}`, `no_alert` has `{account}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SosWords {
    pub(super) unknown_device: String,
    pub(super) expired_device: String,
    pub(super) identifier: String,
    pub(super) network: String,
    pub(super) time: String,
    pub(super) no_position: String,
    pub(super) no_alert: String,
}

macro_rules! define {
    ($($variant:ident $tag:literal $name:literal $countries:tt;)+) => {
        /// The words of a language.
        pub(super) fn words_of(language: ConsoleLanguage) -> &'static Words {
            match language {
                $(ConsoleLanguage::$variant => {
                    static WORDS: LazyLock<Words> =
                        LazyLock::new(|| read(include_str!(concat!("words/", $tag, ".toml"))));
                    &WORDS
                })+
            }
        }
    };
}
perigee_core::for_each_language!(define);

fn read(file: &str) -> Words {
    toml::from_str(file).expect("the message files are part of the program and read by its tests")
}

/// The words for a language tag; English if there are none.
pub(super) fn words(language: &str) -> &'static Words {
    words_of(ConsoleLanguage::of_reader(language))
}

/// The title of an alert of this name in a language; the name itself if it has no built-in meaning.
pub fn alert_title<'n>(name: &'n str, language: &str) -> &'n str {
    words(language).alert.get(name).map_or(name, String::as_str)
}

/// The tag of the language in which texts for this tag are written, for example `es` for `es-MX`.
pub(super) fn supported_language(language: &str) -> &'static str {
    ConsoleLanguage::of_reader(language).name()
}

/// A text with the values of its placeholders. Braces in a value are left as they are.
pub(super) fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut parts = text.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let value = part.split_once('}').and_then(|(name, rest)| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value, rest))
        });
        match value {
            Some((value, rest)) => filled.extend([value, rest]),
            None => filled.extend(["{", part]),
        }
    }
    filled
}

/// The words of a push notification in a language.
pub(crate) struct Labels {
    /// The tag of the language.
    pub(crate) language: &'static str,
    /// The button that acknowledges the alert.
    pub(crate) acknowledge: &'static str,
    /// Shown after the alert was acknowledged.
    pub(crate) acknowledged: &'static str,
    /// Shown if it could not be acknowledged.
    pub(crate) not_acknowledged: &'static str,
    /// Stands for a recipient without a name.
    pub(crate) recipient: &'static str,
}

impl Labels {
    /// The words for a language tag; English if there are none.
    pub(crate) fn of(language: &Language) -> Self {
        let words = words(language.as_str());
        let label = |key: &str| words.label.get(key).map(String::as_str).unwrap_or_default();
        Self {
            language: supported_language(language.as_str()),
            acknowledge: label("acknowledge"),
            acknowledged: label("acknowledged"),
            not_acknowledged: label("not_acknowledged"),
            recipient: label("recipient"),
        }
    }
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
        HarshAcceleration AuthenticationFailed IdleTime MaintenanceSoon MaintenanceDue TripDistance TripTime \
        TripOutsideHours TripPurpose TripNoDriver DrivingTime NoTrip CheckInDue CheckInMissed \
        CheckInReceived PlanOverdue";

    /// The names of the placeholders of a text, in alphabetical order.
    fn placeholders(text: &str) -> Vec<&str> {
        let mut names: Vec<&str> =
            text.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0)).collect();
        names.sort_unstable();
        names
    }

    fn fixed_texts(words: &Words) -> [&str; 23] {
        let Words { mail, test, sos, report, .. } = words;
        [
            &mail.footer,
            &mail.confirm_subject,
            &mail.confirm_text,
            &mail.invitation_subject,
            &mail.invitation_text,
            &mail.reset_subject,
            &mail.reset_text,
            &test.subject,
            &test.text,
            &test.browser_subject,
            &test.browser_text,
            &sos.unknown_device,
            &sos.expired_device,
            &sos.identifier,
            &sos.network,
            &sos.time,
            &sos.no_position,
            &sos.no_alert,
            &report.period,
            &report.rows,
            &report.attached,
            &report.too_large,
            &report.page,
        ]
        .map(String::as_str)
    }

    #[test]
    fn every_language_says_everything() {
        let english = words_of(ConsoleLanguage::English);
        for language in ConsoleLanguage::ALL {
            let words = words_of(language);
            assert_eq!(words.alert.len(), NAMES.split_whitespace().count(), "{language:?}");
            for name in NAMES.split_whitespace() {
                assert!(words.alert.contains_key(name), "{name} in {language:?}");
            }
            assert_eq!(words.time.months.len(), 12);
            assert!(words.label.keys().eq(english.label.keys()), "{language:?}");
            let texts = words.label.values().chain(words.alert.values()).chain(&words.time.months);
            assert!(texts.map(String::as_str).chain(fixed_texts(words)).all(|text| !text.is_empty()));
            for (text, expect) in fixed_texts(words).into_iter().zip(fixed_texts(english)) {
                assert_eq!(placeholders(text), placeholders(expect), "{language:?}: {text}");
            }
        }
    }

    #[test]
    fn only_the_placeholders_of_a_text_are_filled() {
        let values = [("account", "{device}"), ("device", "a}")];
        assert_eq!(fill("{account}: {device}, {other} {", &values), "{device}: a}, {other} {");
    }
}
