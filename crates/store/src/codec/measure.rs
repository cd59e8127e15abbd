//! What of a location is a number, or is told as one.

use perigee_core::location::{Milli, Readings, Trust};

use super::value::source_code;

/// A field told as a number, in the order of the columns of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) enum Measure {
    Late,
    Suspect,
    Speed,
    Course,
    Altitude,
    Accuracy,
    Valid,
    Satellites,
    Hdop,
    Battery,
    Fuel,
    Fuel2,
    Temperature,
    Temperature2,
    SensorTime1,
    SensorTime2,
    SensorTime3,
    SensorTime4,
    Inactive,
    Rpm,
    Mileage,
    Ignition,
    Critical,
    Source,
}

impl Measure {
    pub(super) const COUNT: usize = Self::Source as usize + 1;
    pub(super) const SENSOR_TIMES: [Self; 4] =
        [Self::SensorTime1, Self::SensorTime2, Self::SensorTime3, Self::SensorTime4];
}

/// Tells the marks that are set.
pub(super) fn tell_trust(trust: Trust, mut tell: impl FnMut(Measure, i64)) {
    for (is_set, measure) in [(trust.late, Measure::Late), (trust.suspect, Measure::Suspect)] {
        if is_set {
            tell(measure, 1);
        }
    }
}

/// Tells the numbers among readings.
pub(super) fn tell_readings(readings: &Readings, mut tell: impl FnMut(Measure, i64)) {
    let millis = [
        (Measure::Speed, readings.speed),
        (Measure::Course, readings.course),
        (Measure::Altitude, readings.altitude),
        (Measure::Accuracy, readings.accuracy),
        (Measure::Hdop, readings.hdop),
        (Measure::Battery, readings.battery),
        (Measure::Fuel, readings.fuel),
        (Measure::Fuel2, readings.fuel2),
        (Measure::Temperature, readings.temperature),
        (Measure::Temperature2, readings.temperature2),
        (Measure::Inactive, readings.inactive_s),
        (Measure::Rpm, readings.rpm),
        (Measure::Mileage, readings.mileage),
    ];
    let sensor_times = Measure::SENSOR_TIMES.into_iter().zip(readings.sensor_time_s);
    let millis = millis.into_iter().chain(sensor_times);
    let millis = millis.map(|(measure, value)| (measure, value.map(Milli::as_thousandths)));
    let others = [
        (Measure::Valid, readings.valid.map(i64::from)),
        (Measure::Satellites, readings.satellites.map(i64::from)),
        (Measure::Ignition, readings.ignition.map(i64::from)),
        (Measure::Critical, readings.has_critical_alert.map(i64::from)),
        (Measure::Source, readings.source.map(|source| i64::from(source_code(source)))),
    ];
    for (measure, value) in millis.chain(others) {
        if let Some(value) = value {
            tell(measure, value);
        }
    }
}
