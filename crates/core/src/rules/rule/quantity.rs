//! The measured values of a location that a rule can compare with a number.

use serde::{Deserialize, Serialize};

use crate::locations::location::{Attribute, Location, Milli};

/// A measured value, with its unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Quantity {
    /// Speed in kilometres per hour.
    Speed,
    /// Charge of the battery in percent.
    Battery,
    /// Level of the first tank in percent.
    Fuel,
    /// Level of the second tank in percent.
    Fuel2,
    /// Temperature of the first probe in Celsius.
    Temperature,
    /// Temperature of the second probe in Celsius.
    Temperature2,
    /// Engine speed in revolutions per minute.
    Rpm,
    /// Odometer reading in kilometres.
    Mileage,
    /// Seconds that a sensor, numbered from 1 to 4, was on.
    SensorTime(u8),
    /// An attribute with this name, if it is a number.
    Attribute(String),
}

impl Quantity {
    /// The value in this location, if it has one.
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

/// The value of an attribute as a number; text that is a number counts.
fn number(attribute: &Attribute) -> Option<f64> {
    match attribute {
        #[expect(clippy::cast_precision_loss, reason = "compared with what a person typed")]
        Attribute::Integer(number) => Some(*number as f64),
        Attribute::Real(number) => Some(*number),
        Attribute::Text(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        Attribute::Flag(_) => None,
    }
}
