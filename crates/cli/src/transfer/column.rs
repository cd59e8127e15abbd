//! Names of columns in files, and how their values are written.

use perigee_core::locations::location::{Field, Kind, MILEAGE_ALIAS, Reading};
use serde_json::Value;

use super::draft::Draft;

/// The meaning of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Time,
    Number(&'static str),
    Boolean(&'static str),
    Text(&'static str),
    /// A JSON value; plain texts are separated by `;`.
    Json(&'static str),
    SpeedMs,
    SpeedKnots,
    Unknown(String),
    /// The device, which is ignored because the command line names it.
    Ignored,
}

impl Column {
    /// The meaning of a column name; letter case and punctuation do not matter.
    pub(super) fn named(heading: &str) -> Self {
        let heading = heading.trim().trim_start_matches('\u{feff}');
        let plain: String =
            heading.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        match plain.as_str() {
            "datetime" | "time" | "timestamp" | "gpstime" | "fixtime" | "utc" => return Self::Time,
            "lat" | "latitude" => return Self::Number(Field::Latitude.name()),
            "lon" | "lng" | "long" | "longitude" => return Self::Number(Field::Longitude.name()),
            "alt" | "ele" | "elevation" | "altitudem" => return Self::Number(Field::Altitude.name()),
            "heading" | "bearing" | "cog" => return Self::Number(Field::Course.name()),
            "speedkmh" | "kmh" => return Self::Number(Field::Speed.name()),
            "speedms" | "speedmps" => return Self::SpeedMs,
            "speedkn" | "speedkt" | "speedkts" | "speedknots" | "sog" => return Self::SpeedKnots,
            "sat" | "sats" => return Self::Number(Field::Satellites.name()),
            MILEAGE_ALIAS => return Self::Number(MILEAGE_ALIAS),
            "device" | "deviceid" | "identifier" => return Self::Ignored,
            _ => {}
        }
        if Field::READ_ONLY.iter().any(|field| field.name().eq_ignore_ascii_case(&plain)) {
            return Self::Ignored;
        }
        let known = Reading::ALL.iter().find(|reading| reading.field.name().eq_ignore_ascii_case(&plain));
        let Some(Reading { field, kind, .. }) = known else { return Self::Unknown(heading.to_owned()) };
        match kind {
            Kind::Number | Kind::Count => Self::Number(field.name()),
            Kind::Flag => Self::Boolean(field.name()),
            Kind::Source => Self::Text(field.name()),
            Kind::Flags | Kind::Texts | Kind::Attributes | Kind::Accessories => Self::Json(field.name()),
        }
    }

    /// Sets the field from this text.
    pub(super) fn add(&self, text: &str, draft: &mut Draft) -> Result<(), String> {
        match self {
            Self::Time => draft.set_time(text),
            Self::Number(name) => draft.set_number(name, text),
            Self::Text(name) => draft.set(name, text),
            Self::Boolean(name) => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => draft.set(name, true),
                "false" | "0" | "no" | "off" => draft.set(name, false),
                _ => return Err(format!("\"{name}\" must be true or false, not {text}")),
            },
            Self::Json(name) => {
                let document = serde_json::from_str(text)
                    .ok()
                    .filter(|value: &Value| value.is_array() || value.is_object());
                let parts = || text.split(';').map(|part| Value::from(part.trim())).collect();
                draft.set(name, document.unwrap_or_else(parts));
            }
            Self::SpeedMs => draft.set_speed_ms(text),
            Self::SpeedKnots => match text.parse::<f64>() {
                Ok(knots) => draft.set("speed", (knots * 1852.0).round() / 1000.0),
                Err(_) => draft.set("speed", text),
            },
            Self::Unknown(name) => match serde_json::from_str::<Value>(text) {
                Ok(scalar @ (Value::Number(_) | Value::Bool(_))) => draft.set(name, scalar),
                _ => draft.set(name, text),
            },
            Self::Ignored => {}
        }
        Ok(())
    }
}
