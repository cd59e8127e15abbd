//! Everything a template may show. Each member is always there; what is not known is none and prints as nothing.

use std::collections::BTreeMap;

use perigee_core::location::{Attribute, Milli, Readings};
use perigee_core::notification::{Channel, Content, Occasion};
use perigee_core::routing::Units;
use perigee_core::severity::Severity;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use serde::Serialize;

use super::words::{spoken, words};

/// Everything a template may show.
#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    account: Named,
    recipient: Named,
    device: Device,
    alert: Alert,
    position: Option<Position>,
    limit: Limit,
    channel: &'static str,
    base_url: String,
    created: String,
    language: &'static str,
    label: &'static BTreeMap<String, String>,
    #[serde(skip)]
    pub(super) units: Units,
    #[serde(skip)]
    pub(super) zone: Zone,
    #[serde(rename = "units")]
    units_name: &'static str,
    #[serde(rename = "time_zone")]
    zone_id: String,
}

#[derive(Clone, Debug, Serialize)]
struct Named {
    name: String,
}

#[derive(Clone, Debug, Serialize)]
struct Device {
    id: String,
    name: String,
    identifier: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
struct Alert {
    id: String,
    name: String,
    title: String,
    text: Option<String>,
    time: String,
    critical: bool,
    severity: &'static str,
    severity_name: String,
    attributes: BTreeMap<String, Detail>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Detail {
    Text(String),
    Integer(i64),
    Real(f64),
    Flag(bool),
}

#[derive(Clone, Debug, Serialize)]
struct Position {
    latitude: f64,
    longitude: f64,
    time: String,
    /// Whether it is where the device was last, and not where the alert says it happened.
    is_last: bool,
    speed: Option<f64>,
    course: Option<f64>,
    altitude: Option<f64>,
    temperature: Option<f64>,
    battery: Option<f64>,
    fuel: Option<f64>,
    mileage: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
struct Limit {
    channel: &'static str,
}

impl Facts {
    /// The language spoken.
    pub(super) fn language(&self) -> &'static str {
        self.language
    }

    /// What there is to tell.
    pub fn of(content: &Content) -> Self {
        let language = content.preferences.language.as_str();
        let device = content.device.as_ref();
        let (alert, limit) = match &content.occasion {
            Occasion::Alert { alert, severity } => (Alert::of(alert, *severity, language), None),
            Occasion::LimitReached { channel } => (Alert::default(), Some(*channel)),
        };
        Self {
            account: Named { name: content.account_name.clone() },
            recipient: Named { name: content.preferences.name.clone().unwrap_or_default() },
            device: Device {
                id: device.map(|device| device.id.to_string()).unwrap_or_default(),
                name: device.map_or_else(|| content.account_name.clone(), |device| device.name.clone()),
                identifier: device.and_then(|device| device.identifier.clone()),
            },
            position: Position::of(content),
            alert,
            limit: Limit { channel: limit.map_or("", Channel::name) },
            channel: content.channel.name(),
            base_url: content.base_url.clone(),
            created: content.created.to_string(),
            language: spoken(language),
            label: &words(language).label,
            units: content.preferences.units,
            zone: content.time_zone.clone(),
            units_name: content.preferences.units.name(),
            zone_id: content.time_zone.id().to_owned(),
        }
    }
}

impl Alert {
    fn of(stored: &perigee_core::alert::StoredAlert, severity: Severity, language: &str) -> Self {
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
        }
    }
}

impl Position {
    fn of(content: &Content) -> Option<Self> {
        if let Occasion::Alert { alert, .. } = &content.occasion
            && let Some((latitude, longitude)) = alert.alert.position
        {
            let degrees = (latitude.as_degrees(), longitude.as_degrees());
            return Some(Self::new(degrees, alert.alert.time, false, &Readings::default()));
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

/// Facts to preview templates with: a vessel that asks for help, or one that used up its messages.
pub fn sample(
    of_limit: bool,
    channel: Channel,
    language: &str,
    units: Units,
    zone: Zone,
    base_url: &str,
) -> Facts {
    let words = words(language);
    let position = Position {
        latitude: 41.385_06,
        longitude: 2.173_4,
        time: "2026-05-01T12:00:00Z".to_owned(),
        is_last: true,
        speed: Some(22.2),
        course: Some(135.0),
        altitude: Some(2.0),
        temperature: Some(18.5),
        battery: Some(87.0),
        fuel: Some(64.0),
        mileage: Some(1_204.6),
    };
    let alert = Alert {
        id: "alr_0000000000001".to_owned(),
        name: "SOSButton".to_owned(),
        title: words.alert.get("SOSButton").cloned().unwrap_or_default(),
        text: Some("Button held for 3 s".to_owned()),
        time: "2026-05-01T12:00:04Z".to_owned(),
        critical: true,
        severity: Severity::Critical.name(),
        severity_name: words.label.get(Severity::Critical.name()).cloned().unwrap_or_default(),
        attributes: [("button".to_owned(), Detail::Integer(1))].into(),
    };
    Facts {
        account: Named { name: "Harbour fleet".to_owned() },
        recipient: Named { name: "Ana".to_owned() },
        device: Device {
            id: "dev_0000000000001".to_owned(),
            name: "Sea Otter <7>".to_owned(),
            identifier: Some("300434060000007".to_owned()),
        },
        position: (!of_limit).then_some(position),
        alert: if of_limit { Alert::default() } else { alert },
        limit: Limit { channel: if of_limit { Channel::Sms.name() } else { "" } },
        channel: channel.name(),
        base_url: base_url.to_owned(),
        created: "2026-05-01T12:00:05Z".to_owned(),
        language: spoken(language),
        label: &words.label,
        units_name: units.name(),
        units,
        zone_id: zone.id().to_owned(),
        zone,
    }
}
