//! What a location measures that a rule can compare with a number.

use serde::{Deserialize, Serialize};

use crate::location::{Attribute, Location, Milli};

/// Something measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Quantity {
    /// Kilometres an hour.
    Speed,
    /// Percent.
    Battery,
    /// Percent.
    Fuel,
    /// Percent, second tank.
    Fuel2,
    /// Degrees Celsius.
    Temperature,
    /// Degrees Celsius, second probe.
    Temperature2,
    /// Revolutions a minute.
    Rpm,
    /// Kilometres.
    Mileage,
    /// Seconds one of four sensors was on.
    SensorTime(u8),
    /// An attribute with this name, if it is a number.
    Attribute(String),
}

impl Quantity {
    /// What the location says of it, if anything.
    pub fn of(&self, location: &Location) -> Option<f64> {
        let readings = &location.readings;
        let milli = match self {
            Self::Speed => readings.speed,
            Self::Battery => readings.battery,
            Self::Fuel => readings.fuel,
            Self::Fuel2 => readings.fuel2,
            Self::Temperature => readings.temperature,
            Self::Temperature2 => readings.temperature2,
            Self::Rpm => readings.rpm,
            Self::Mileage => readings.mileage,
            Self::SensorTime(1) => readings.sensor_time1_s,
            Self::SensorTime(2) => readings.sensor_time2_s,
            Self::SensorTime(3) => readings.sensor_time3_s,
            Self::SensorTime(4) => readings.sensor_time4_s,
            Self::SensorTime(_) => None,
            Self::Attribute(name) => return readings.attributes.get(name).and_then(number),
        };
        milli.map(Milli::as_f64)
    }
}

/// The number an attribute is, also when it was sent as text.
fn number(attribute: &Attribute) -> Option<f64> {
    match attribute {
        #[expect(clippy::cast_precision_loss, reason = "compared with what a person typed")]
        Attribute::Integer(number) => Some(*number as f64),
        Attribute::Real(number) => Some(*number),
        Attribute::Text(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        Attribute::Flag(_) => None,
    }
}
