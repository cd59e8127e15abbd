//! The data that templates can show. Every field exists; unknown values are `none` and print as nothing.

use std::collections::BTreeMap;

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::accounts::branding::Colour;
use perigee_core::alerts::alert::LaterFix;
use perigee_core::alerts::severity::Severity;
use perigee_core::locations::location::{Attribute, Latitude, Longitude, Milli, Readings};
use perigee_core::locations::place::{self, Form};
use perigee_core::notifications::notification::{Channel, Content, Occasion};
use perigee_core::notifications::routing::Units;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use serde::Serialize;

use super::report::Report;
use super::words::{supported_language, words};

/// The data that templates can show.
#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    pub(super) account: Sender,
    pub(super) recipient: Named,
    pub(super) device: Device,
    pub(super) alert: Alert,
    pub(super) position: Option<Position>,
    /// The position in words, such as "21 km SW of Vigo, Spain".
    pub(super) place: Option<String>,
    /// The same without the country, for SMS.
    pub(super) short_place: Option<String>,
    pub(super) limit: Limit,
    pub(super) overview: Report,
    pub(super) channel: &'static str,
    pub(super) base_url: String,
    /// The page on which the recipient acknowledges the alert, with or without an account; `None` if there is none.
    pub(super) acknowledge_url: Option<String>,
    /// Whether the e-mail contains a map of the position, as `cid:map@perigee`.
    pub(super) has_map: bool,
    pub(super) created: String,
    pub(super) language: &'static str,
    pub(super) label: &'static BTreeMap<String, String>,
    #[serde(skip)]
    pub(super) units: Units,
    #[serde(skip)]
    pub(super) zone: Zone,
    #[serde(rename = "units")]
    pub(super) units_name: &'static str,
    #[serde(rename = "time_zone")]
    pub(super) zone_id: String,
}

/// The account as e-mails present it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Sender {
    pub(super) name: String,
    /// The colour of buttons, and of the text on them.
    pub(super) colour: String,
    pub(super) text_colour: String,
    /// Whether the e-mail contains the logo, as `cid:logo@perigee`.
    pub(super) has_logo: bool,
}

impl Sender {
    pub(super) fn new(name: String, colour: Option<Colour>, has_logo: bool) -> Self {
        let colour = colour.unwrap_or(Colour::DEFAULT);
        Self { name, colour: colour.to_string(), text_colour: colour.text().to_string(), has_logo }
    }
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Named {
    pub(super) name: String,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Device {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) identifier: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Alert {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) title: String,
    pub(super) text: Option<String>,
    pub(super) time: String,
    pub(super) critical: bool,
    pub(super) severity: &'static str,
    pub(super) severity_name: String,
    pub(super) attributes: BTreeMap<String, Detail>,
    /// The page of the alert in the console.
    pub(super) url: String,
    /// The step of an escalation, from 1; 0 for the messages of the alert itself.
    pub(super) step: u32,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Detail {
    Text(String),
    Integer(i64),
    Real(f64),
    Flag(bool),
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Position {
    pub(super) latitude: f64,
    pub(super) longitude: f64,
    /// A map of the position that opens on telephones and desktops.
    pub(super) map_url: String,
    pub(super) time: String,
    /// Whether it is the device's last position and not the alert's own.
    pub(super) is_last: bool,
    pub(super) speed: Option<f64>,
    pub(super) course: Option<f64>,
    pub(super) altitude: Option<f64>,
    pub(super) temperature: Option<f64>,
    pub(super) battery: Option<f64>,
    pub(super) fuel: Option<f64>,
    pub(super) mileage: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Limit {
    pub(super) channel: &'static str,
}

impl Facts {
    /// The position in words.
    pub(crate) fn place_in_words(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// The language of the template's labels.
    pub(super) fn language(&self) -> &'static str {
        self.language
    }

    /// The data for this content.
    pub fn of(content: &Content) -> Self {
        let language = content.preferences.language.as_str();
        let device = content.device.as_ref();
        let (mut alert, mut limit, mut overview) = (Alert::default(), None, Report::default());
        match &content.occasion {
            Occasion::Alert { alert: stored, severity, step } => {
                alert = Alert { step: *step, ..Alert::of(stored, *severity, language) };
                alert.url = format!("{}/alerts/{}", content.base_url, stored.id);
            }
            Occasion::LimitReached { channel } => limit = Some(*channel),
            Occasion::Overview(report) => overview = Report::of(report, language),
            Occasion::Test
            | Occasion::UnregisteredSos(_)
            | Occasion::ScheduledReport(_)
            | Occasion::PasswordLink { .. }
            | Occasion::ConfirmRecipient
            | Occasion::Deleted => {}
        }
        Self {
            account: Sender::new(
                content.account_name.clone(),
                content.appearance.colour,
                content.appearance.logo.is_some(),
            ),
            recipient: Named { name: content.preferences.name.clone().unwrap_or_default() },
            device: Device {
                id: device.map(|device| device.id.to_string()).unwrap_or_default(),
                name: device.map_or_else(|| content.account_name.clone(), |device| device.name.clone()),
                identifier: device.and_then(|device| device.identifier.clone()),
            },
            position: Position::of(content),
            place: in_words(content, Form::Full),
            short_place: in_words(content, Form::Short),
            alert,
            limit: Limit { channel: limit.map_or("", Channel::name) },
            overview,
            channel: content.channel.name(),
            base_url: content.base_url.clone(),
            acknowledge_url: content.acknowledge_link.clone(),
            has_map: content.appearance.map.is_some(),
            created: content.created.to_string(),
            language: supported_language(language),
            label: &words(language).label,
            units: content.preferences.units,
            zone: content.time_zone.clone(),
            units_name: content.preferences.units.name(),
            zone_id: content.time_zone.id().to_owned(),
        }
    }
}

impl Alert {
    fn of(stored: &perigee_core::alerts::alert::StoredAlert, severity: Severity, language: &str) -> Self {
        let words = words(language);
        let alert = &stored.alert;
        let detail = |value: &Attribute| match value {
            Attribute::Text(text) => Detail::Text(text.clone()),
            Attribute::Integer(number) => Detail::Integer(*number),
            Attribute::Real(number) => Detail::Real(*number),
            Attribute::Flag(flag) => Detail::Flag(*flag),
        };
        Self {
            id: stored.id.to_string(),
            name: alert.name.clone(),
            title: words.alert.get(&alert.name).unwrap_or(&alert.name).clone(),
            text: alert.text.clone().filter(|text| !text.is_empty()),
            time: alert.time.to_string(),
            critical: severity == Severity::Critical,
            severity: severity.name(),
            severity_name: words.label.get(severity.name()).cloned().unwrap_or_default(),
            attributes: alert.attributes.iter().map(|(key, value)| (key.clone(), detail(value))).collect(),
            url: String::new(),
            step: 0,
        }
    }
}

/// The alert's position or else the device's last one, in the language and units of the recipient.
fn in_words(content: &Content, form: Form) -> Option<String> {
    let own = match &content.occasion {
        Occasion::Alert { alert, .. } => {
            alert.alert.position.or_else(|| alert.later_fix.map(|fix| fix.position))
        }
        _ => None,
    };
    let last =
        || content.last_location.as_ref().map(|last| (last.location.latitude, last.location.longitude));
    let language = content.preferences.language.as_str();
    place_in_words(own.or_else(last)?, language, content.preferences.units, form)
}

/// A position in words, in the language of the labels.
pub(super) fn place_in_words(
    position: (Latitude, Longitude),
    language: &str,
    units: Units,
    form: Form,
) -> Option<String> {
    let language = ConsoleLanguage::of_reader(language);
    place::describe(position, place::Reader { language, units }, form)
}

/// The address of a map around a position, with a marker.
pub(super) fn map_url((latitude, longitude): (f64, f64)) -> String {
    format!(
        "https://www.openstreetmap.org/?mlat={latitude:.5}&mlon={longitude:.5}#map=12/{latitude:.5}/{longitude:.5}"
    )
}

impl Position {
    fn of(content: &Content) -> Option<Self> {
        if let Occasion::Alert { alert, .. } = &content.occasion
            && let Some((latitude, longitude)) = alert.alert.position
        {
            let degrees = (latitude.as_degrees(), longitude.as_degrees());
            return Some(Self::new(degrees, alert.alert.time, false, &Readings::default()));
        }
        if let Occasion::Alert { alert, .. } = &content.occasion
            && let Some(LaterFix { time, position: (latitude, longitude) }) = alert.later_fix
        {
            let degrees = (latitude.as_degrees(), longitude.as_degrees());
            return Some(Self::new(degrees, time, false, &Readings::default()));
        }
        let location = &content.last_location.as_ref()?.location;
        let degrees = (location.latitude.as_degrees(), location.longitude.as_degrees());
        Some(Self::new(degrees, location.time, true, &location.readings))
    }

    fn new(degrees: (f64, f64), time: Timestamp, is_last: bool, readings: &Readings) -> Self {
        let number = |value: Option<Milli>| value.map(Milli::as_f64);
        Self {
            latitude: degrees.0,
            longitude: degrees.1,
            map_url: map_url(degrees),
            time: time.to_string(),
            is_last,
            speed: number(readings.speed),
            course: number(readings.course),
            altitude: number(readings.altitude),
            temperature: number(readings.temperature),
            battery: number(readings.battery),
            fuel: number(readings.fuel),
            mileage: number(readings.mileage),
        }
    }
}
