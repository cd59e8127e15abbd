//! The fields of a location that have a column each: how to take the value out and how to put it back.

use perigee_core::location::{
    FixSource, Latitude, Location, Longitude, Milli, Readings, StoredLocation, Trust,
};
use perigee_core::time::Timestamp;

use crate::codec::bytes::{CodecError, Reader, Writer};
use crate::codec::measure::Measure;
use crate::codec::value::{read_accessories, source_of, write_accessories};

/// The number of each column in the directory. A number never changes its meaning; what is new takes a new one, which
/// programs that do not know it refuse rather than lose.
pub(super) mod id {
    pub(in super::super) const TIME: u8 = 0;
    pub(in super::super) const LATITUDE: u8 = 1;
    pub(in super::super) const LONGITUDE: u8 = 2;
    /// The log's number.
    pub(in super::super) const NUMBER: u8 = 3;
    /// When it was received, as an instant or as how long after the fix that was; a chunk has one of the two.
    pub(in super::super) const RECEIVED_AT: u8 = 4;
    pub(in super::super) const DELAY: u8 = 5;
    pub(super) const LATE: u8 = 6;
    pub(super) const SUSPECT: u8 = 7;

    pub(super) const SPEED: u8 = 16;
    pub(super) const COURSE: u8 = 17;
    pub(super) const ALTITUDE: u8 = 18;
    pub(super) const ACCURACY: u8 = 19;
    pub(super) const VALID: u8 = 20;
    pub(super) const SATELLITES: u8 = 21;
    pub(super) const HDOP: u8 = 22;
    pub(super) const BATTERY: u8 = 23;
    pub(super) const FUEL: u8 = 24;
    pub(super) const FUEL2: u8 = 25;
    pub(super) const TEMPERATURE: u8 = 26;
    pub(super) const TEMPERATURE2: u8 = 27;
    pub(super) const SENSOR_TIME: [u8; 4] = [28, 29, 30, 31];
    pub(super) const INACTIVE: u8 = 32;
    pub(super) const RPM: u8 = 33;
    pub(super) const MILEAGE: u8 = 34;
    pub(super) const IGNITION: u8 = 35;
    pub(super) const CRITICAL: u8 = 36;
    pub(super) const SOURCE: u8 = 37;

    pub(super) const INPUTS: u8 = 64;
    pub(super) const OUTPUTS: u8 = 65;
    pub(super) const WARNINGS: u8 = 66;
    pub(super) const WARNING_TEXTS: u8 = 67;
    pub(super) const ALERTS: u8 = 68;
    pub(super) const ALERT_TEXTS: u8 = 69;
    pub(super) const ACCESSORIES: u8 = 70;

    pub(in super::super) const ATTRIBUTE_TEXT: u8 = 96;
    pub(in super::super) const ATTRIBUTE_INTEGER: u8 = 97;
    pub(in super::super) const ATTRIBUTE_REAL: u8 = 98;
    pub(in super::super) const ATTRIBUTE_FLAG: u8 = 99;
}

/// A field that is a number, or is told as one, of those that a location may have.
pub(super) struct NumberField {
    pub(super) id: u8,
    pub(super) set: fn(&mut StoredLocation, Option<i64>) -> Result<(), CodecError>,
}

/// A field told as bytes that are the same for the same value.
pub(super) struct TextField {
    pub(super) id: u8,
    pub(super) get: fn(&Readings, &mut Writer) -> Option<()>,
    pub(super) set: fn(&mut StoredLocation, Option<Reader<'_>>) -> Result<(), CodecError>,
}

/// A mark that is there or is not.
macro_rules! mark {
    ($id:expr, $($field:ident).+) => {
        NumberField {
            id: $id,
            set: |to, value| {
                to.$($field).+ = value.is_some();
                Ok(())
            },
        }
    };
}

/// A reading in thousandths.
macro_rules! milli {
    ($id:expr, $field:ident $([$place:literal])?) => {
        NumberField {
            id: $id,
            set: |to, value| {
                to.location.readings.$field$([$place])? = value.map(Milli::from_thousandths);
                Ok(())
            },
        }
    };
}

/// A reading that is told by a small number.
macro_rules! coded {
    ($id:expr, $field:ident, $value:expr) => {
        NumberField {
            id: $id,
            set: |to, value| {
                to.location.readings.$field = value.map($value).transpose()?;
                Ok(())
            },
        }
    };
}

/// A reading that is a list.
macro_rules! list {
    ($id:expr, $field:ident, $write:expr, $read:expr) => {
        TextField {
            id: $id,
            get: |of, out| of.$field.as_deref().map(|list| $write(out, list)),
            set: |to, value| {
                to.location.readings.$field = value.map(|mut input| whole(&mut input, $read)).transpose()?;
                Ok(())
            },
        }
    };
}

/// What every location has, in ascending order. Those who read it put it back.
pub(super) const CORE: [u8; 6] =
    [id::TIME, id::LATITUDE, id::LONGITUDE, id::NUMBER, id::RECEIVED_AT, id::DELAY];

/// In ascending order of their ids, which is that of [`Measure`].
pub(super) static NUMBERS: [NumberField; Measure::COUNT] = [
    mark!(id::LATE, trust.late),
    mark!(id::SUSPECT, trust.suspect),
    milli!(id::SPEED, speed),
    milli!(id::COURSE, course),
    milli!(id::ALTITUDE, altitude),
    milli!(id::ACCURACY, accuracy),
    coded!(id::VALID, valid, flag),
    coded!(id::SATELLITES, satellites, narrow),
    milli!(id::HDOP, hdop),
    milli!(id::BATTERY, battery),
    milli!(id::FUEL, fuel),
    milli!(id::FUEL2, fuel2),
    milli!(id::TEMPERATURE, temperature),
    milli!(id::TEMPERATURE2, temperature2),
    milli!(id::SENSOR_TIME[0], sensor_time_s[0]),
    milli!(id::SENSOR_TIME[1], sensor_time_s[1]),
    milli!(id::SENSOR_TIME[2], sensor_time_s[2]),
    milli!(id::SENSOR_TIME[3], sensor_time_s[3]),
    milli!(id::INACTIVE, inactive_s),
    milli!(id::RPM, rpm),
    milli!(id::MILEAGE, mileage),
    coded!(id::IGNITION, ignition, flag),
    coded!(id::CRITICAL, has_critical_alert, flag),
    coded!(id::SOURCE, source, source),
];

/// In ascending order of their ids.
pub(super) static TEXTS: [TextField; 7] = [
    list!(id::INPUTS, inputs, Writer::bits, Reader::bits),
    list!(id::OUTPUTS, outputs, Writer::bits, Reader::bits),
    list!(id::WARNINGS, warnings, Writer::texts, Reader::texts),
    list!(id::WARNING_TEXTS, warning_texts, Writer::texts, Reader::texts),
    list!(id::ALERTS, alerts, Writer::texts, Reader::texts),
    list!(id::ALERT_TEXTS, alert_texts, Writer::texts, Reader::texts),
    list!(id::ACCESSORIES, accessories, write_accessories, read_accessories),
];

/// A location to put values into: what no column tells stays as it is here.
pub(super) fn blank() -> StoredLocation {
    StoredLocation {
        location: Location {
            time: Timestamp::from_millis(0),
            latitude: Latitude::from_e7(0),
            longitude: Longitude::from_e7(0),
            readings: Readings::default(),
        },
        received_at: Timestamp::from_millis(0),
        trust: Trust::default(),
        number: 0,
    }
}

/// A number of a narrower type.
pub(super) fn narrow<T: TryFrom<i64>>(value: i64) -> Result<T, CodecError> {
    T::try_from(value).map_err(|_outside| CodecError::Malformed)
}

/// Yes or no.
pub(super) const fn flag(value: i64) -> Result<bool, CodecError> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(CodecError::Malformed),
    }
}

fn source(code: i64) -> Result<FixSource, CodecError> {
    source_of(u8::try_from(code).map_err(|_too_large| CodecError::Malformed)?)
}

fn whole<'a, T>(
    input: &mut Reader<'a>,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, CodecError>,
) -> Result<T, CodecError> {
    let value = read(input)?;
    input.end().map(|()| value)
}
