//! Readings as bytes: a version, one bit for each field that is there, then the fields in the order of the bits.

use bytes::Bytes;
use perigee_core::location::{Attribute, Milli, Readings};

use super::bytes::{CodecError, Reader, Writer};
use super::measure::Measure;
use super::value::{read_accessories, source_code, source_of, write_accessories};

const VERSION: u8 = 1;

/// The bit of each field. What trackers send most has the low bits, so that its map stays short.
/// A bit never changes its meaning; what is new takes a new one.
mod bit {
    pub(super) const SPEED: u64 = 1 << 0;
    pub(super) const COURSE: u64 = 1 << 1;
    pub(super) const ALTITUDE: u64 = 1 << 2;
    pub(super) const VALID: u64 = 1 << 3;
    pub(super) const VALID_IS: u64 = 1 << 4;
    pub(super) const SATELLITES: u64 = 1 << 5;
    pub(super) const BATTERY: u64 = 1 << 6;
    pub(super) const ACCURACY: u64 = 1 << 7;
    pub(super) const HDOP: u64 = 1 << 8;
    pub(super) const IGNITION: u64 = 1 << 9;
    pub(super) const IGNITION_IS: u64 = 1 << 10;
    pub(super) const MILEAGE: u64 = 1 << 11;
    pub(super) const SOURCE: u64 = 1 << 12;
    pub(super) const ATTRIBUTES: u64 = 1 << 13;
    pub(super) const INPUTS: u64 = 1 << 14;
    pub(super) const OUTPUTS: u64 = 1 << 15;
    pub(super) const FUEL: u64 = 1 << 16;
    pub(super) const FUEL2: u64 = 1 << 17;
    pub(super) const TEMPERATURE: u64 = 1 << 18;
    pub(super) const TEMPERATURE2: u64 = 1 << 19;
    pub(super) const RPM: u64 = 1 << 20;
    pub(super) const INACTIVE: u64 = 1 << 21;
    pub(super) const SENSOR_TIME: [u64; 4] = [1 << 22, 1 << 23, 1 << 24, 1 << 25];
    pub(super) const WARNINGS: u64 = 1 << 26;
    pub(super) const WARNING_TEXTS: u64 = 1 << 27;
    pub(super) const ALERTS: u64 = 1 << 28;
    pub(super) const ALERT_TEXTS: u64 = 1 << 29;
    pub(super) const CRITICAL: u64 = 1 << 30;
    pub(super) const CRITICAL_IS: u64 = 1 << 31;
    pub(super) const ACCESSORIES: u64 = 1 << 32;
    pub(super) const ALL: u64 = (1 << 33) - 1;
    /// Fields that are lists or texts.
    pub(super) const RICH: u64 =
        ATTRIBUTES | INPUTS | OUTPUTS | WARNINGS | WARNING_TEXTS | ALERTS | ALERT_TEXTS | ACCESSORIES;

    /// Fields that are only a yes or no: whether there is one, and which.
    pub(super) const FLAGS: [(u64, u64); 3] =
        [(VALID, VALID_IS), (IGNITION, IGNITION_IS), (CRITICAL, CRITICAL_IS)];
}

/// The first byte of an attribute's value.
mod kind {
    pub(super) const TEXT: u8 = 0;
    pub(super) const INTEGER: u8 = 1;
    pub(super) const REAL: u8 = 2;
    pub(super) const NO: u8 = 3;
    pub(super) const YES: u8 = 4;
}

/// Packs readings. Equal readings give equal bytes.
///
/// A real that is no number says nothing and is left out: domain values never hold one.
pub fn pack_readings(readings: &Readings) -> Vec<u8> {
    let mut packed = Writer::with_capacity(48);
    pack_into(readings, &mut Writer::with_capacity(48), &mut packed);
    packed.into_bytes()
}

/// Packs many readings into one piece of memory.
pub(crate) fn pack_all_readings<'r>(all: impl ExactSizeIterator<Item = &'r Readings>) -> Vec<Bytes> {
    let mut ends = Vec::with_capacity(all.len());
    let (mut packed, mut fields) = (Writer::with_capacity(24 * all.len()), Writer::with_capacity(64));
    for readings in all {
        pack_into(readings, &mut fields, &mut packed);
        ends.push(packed.len());
    }
    let packed = Bytes::from(packed.into_bytes());
    let begins = std::iter::once(0).chain(ends.iter().copied());
    begins.zip(&ends).map(|(begin, end)| packed.slice(begin..*end)).collect()
}

/// Appends packed readings; `fields` is used on the way.
fn pack_into(readings: &Readings, fields: &mut Writer, packed: &mut Writer) {
    fields.clear();
    let mut body = Packer { map: 0, fields };
    body.milli(bit::SPEED, readings.speed);
    body.milli(bit::COURSE, readings.course);
    body.milli(bit::ALTITUDE, readings.altitude);
    body.flag(bit::VALID, bit::VALID_IS, readings.valid);
    body.field(bit::SATELLITES, readings.satellites, |out, count| out.unsigned(u64::from(count)));
    body.milli(bit::BATTERY, readings.battery);
    body.milli(bit::ACCURACY, readings.accuracy);
    body.milli(bit::HDOP, readings.hdop);
    body.flag(bit::IGNITION, bit::IGNITION_IS, readings.ignition);
    body.milli(bit::MILEAGE, readings.mileage);
    body.field(bit::SOURCE, readings.source, |out, source| out.byte(source_code(source)));
    body.attributes(readings);
    body.field(bit::INPUTS, readings.inputs.as_deref(), Writer::bits);
    body.field(bit::OUTPUTS, readings.outputs.as_deref(), Writer::bits);
    body.milli(bit::FUEL, readings.fuel);
    body.milli(bit::FUEL2, readings.fuel2);
    body.milli(bit::TEMPERATURE, readings.temperature);
    body.milli(bit::TEMPERATURE2, readings.temperature2);
    body.milli(bit::RPM, readings.rpm);
    body.milli(bit::INACTIVE, readings.inactive_s);
    for (bit, time) in bit::SENSOR_TIME.into_iter().zip(readings.sensor_time_s) {
        body.milli(bit, time);
    }
    body.field(bit::WARNINGS, readings.warnings.as_deref(), Writer::texts);
    body.field(bit::WARNING_TEXTS, readings.warning_texts.as_deref(), Writer::texts);
    body.field(bit::ALERTS, readings.alerts.as_deref(), Writer::texts);
    body.field(bit::ALERT_TEXTS, readings.alert_texts.as_deref(), Writer::texts);
    body.flag(bit::CRITICAL, bit::CRITICAL_IS, readings.has_critical_alert);
    body.field(bit::ACCESSORIES, readings.accessories.as_deref(), write_accessories);
    packed.byte(VERSION);
    packed.unsigned(body.map);
    packed.raw(body.fields.as_bytes());
}

/// Whether packed readings may raise alerts of themselves; nothing else of them is read.
pub(crate) fn may_carry_alerts(bytes: &[u8]) -> Result<bool, CodecError> {
    Ok(Unpacker::open(bytes)?.map & (bit::ALERTS | bit::CRITICAL_IS) != 0)
}

/// Tells the numbers among packed readings, and whether these have nothing else in them; if they have, nothing is
/// told.
pub(super) fn tell_packed(bytes: &[u8], mut tell: impl FnMut(Measure, i64)) -> Result<bool, CodecError> {
    let mut body = Unpacker::open(bytes)?;
    if body.map & bit::RICH != 0 {
        return Ok(false);
    }
    let mut told = |measure: Measure, value: Option<i64>| {
        if let Some(value) = value {
            tell(measure, value);
        }
    };
    // In the order of packing.
    told(Measure::Speed, body.number(bit::SPEED)?);
    told(Measure::Course, body.number(bit::COURSE)?);
    told(Measure::Altitude, body.number(bit::ALTITUDE)?);
    told(Measure::Valid, body.flag(bit::VALID, bit::VALID_IS).map(i64::from));
    told(Measure::Satellites, body.field(bit::SATELLITES, satellites)?.map(i64::from));
    told(Measure::Battery, body.number(bit::BATTERY)?);
    told(Measure::Accuracy, body.number(bit::ACCURACY)?);
    told(Measure::Hdop, body.number(bit::HDOP)?);
    told(Measure::Ignition, body.flag(bit::IGNITION, bit::IGNITION_IS).map(i64::from));
    told(Measure::Mileage, body.number(bit::MILEAGE)?);
    let source = body.field(bit::SOURCE, |input| source_of(input.byte()?))?;
    told(Measure::Source, source.map(|source| i64::from(source_code(source))));
    told(Measure::Fuel, body.number(bit::FUEL)?);
    told(Measure::Fuel2, body.number(bit::FUEL2)?);
    told(Measure::Temperature, body.number(bit::TEMPERATURE)?);
    told(Measure::Temperature2, body.number(bit::TEMPERATURE2)?);
    told(Measure::Rpm, body.number(bit::RPM)?);
    told(Measure::Inactive, body.number(bit::INACTIVE)?);
    for (measure, bit) in Measure::SENSOR_TIMES.into_iter().zip(bit::SENSOR_TIME) {
        told(measure, body.number(bit)?);
    }
    told(Measure::Critical, body.flag(bit::CRITICAL, bit::CRITICAL_IS).map(i64::from));
    body.fields.end().map(|()| true)
}

fn satellites(input: &mut Reader<'_>) -> Result<u32, CodecError> {
    u32::try_from(input.unsigned()?).map_err(|_too_large| CodecError::Malformed)
}

/// Unpacks what [`pack_readings`] made.
pub fn unpack_readings(bytes: &[u8]) -> Result<Readings, CodecError> {
    let mut body = Unpacker::open(bytes)?;
    let map = body.map;
    let readings = Readings {
        speed: body.milli(bit::SPEED)?,
        course: body.milli(bit::COURSE)?,
        altitude: body.milli(bit::ALTITUDE)?,
        valid: body.flag(bit::VALID, bit::VALID_IS),
        satellites: body.field(bit::SATELLITES, satellites)?,
        battery: body.milli(bit::BATTERY)?,
        accuracy: body.milli(bit::ACCURACY)?,
        hdop: body.milli(bit::HDOP)?,
        ignition: body.flag(bit::IGNITION, bit::IGNITION_IS),
        mileage: body.milli(bit::MILEAGE)?,
        source: body.field(bit::SOURCE, |input| source_of(input.byte()?))?,
        attributes: body.field(bit::ATTRIBUTES, |input| input.map(attribute))?.unwrap_or_default(),
        inputs: body.field(bit::INPUTS, Reader::bits)?,
        outputs: body.field(bit::OUTPUTS, Reader::bits)?,
        fuel: body.milli(bit::FUEL)?,
        fuel2: body.milli(bit::FUEL2)?,
        temperature: body.milli(bit::TEMPERATURE)?,
        temperature2: body.milli(bit::TEMPERATURE2)?,
        rpm: body.milli(bit::RPM)?,
        inactive_s: body.milli(bit::INACTIVE)?,
        sensor_time_s: {
            let [first, second, third, fourth] = bit::SENSOR_TIME;
            [body.milli(first)?, body.milli(second)?, body.milli(third)?, body.milli(fourth)?]
        },
        warnings: body.field(bit::WARNINGS, Reader::texts)?,
        warning_texts: body.field(bit::WARNING_TEXTS, Reader::texts)?,
        alerts: body.field(bit::ALERTS, Reader::texts)?,
        alert_texts: body.field(bit::ALERT_TEXTS, Reader::texts)?,
        has_critical_alert: body.flag(bit::CRITICAL, bit::CRITICAL_IS),
        accessories: body.field(bit::ACCESSORIES, read_accessories)?,
    };
    // An empty map of attributes is not written at all.
    if map & bit::ATTRIBUTES != 0 && readings.attributes.is_empty() {
        return Err(CodecError::Malformed);
    }
    body.fields.end().map(|()| readings)
}

fn attribute(input: &mut Reader<'_>) -> Result<Attribute, CodecError> {
    match input.byte()? {
        kind::TEXT => input.text().map(Attribute::Text),
        kind::INTEGER => input.signed().map(Attribute::Integer),
        kind::REAL => {
            let bytes = input.raw(8)?.try_into().map_err(|_length| CodecError::Short)?;
            let number = f64::from_le_bytes(bytes);
            let canonical = number.is_finite() && number.to_bits() != (-0.0_f64).to_bits();
            canonical.then_some(Attribute::Real(number)).ok_or(CodecError::Malformed)
        }
        kind::NO => Ok(Attribute::Flag(false)),
        kind::YES => Ok(Attribute::Flag(true)),
        _ => Err(CodecError::Malformed),
    }
}

struct Packer<'w> {
    map: u64,
    fields: &'w mut Writer,
}

impl Packer<'_> {
    fn field<T>(&mut self, bit: u64, value: Option<T>, write: impl FnOnce(&mut Writer, T)) {
        if let Some(value) = value {
            self.map |= bit;
            write(self.fields, value);
        }
    }

    fn milli(&mut self, bit: u64, value: Option<Milli>) {
        self.field(bit, value, |out, number| out.signed(number.as_thousandths()));
    }

    const fn flag(&mut self, there: u64, is: u64, value: Option<bool>) {
        match value {
            Some(true) => self.map |= there | is,
            Some(false) => self.map |= there,
            None => {}
        }
    }

    fn attributes(&mut self, readings: &Readings) {
        let told = |value: &Attribute| !matches!(value, Attribute::Real(number) if !number.is_finite());
        let told: Vec<_> = readings.attributes.iter().filter(|(_, value)| told(value)).collect();
        self.field(bit::ATTRIBUTES, (!told.is_empty()).then_some(told), |out, told| {
            out.length(told.len());
            for (key, value) in told {
                out.text(key);
                match value {
                    Attribute::Text(text) => {
                        out.byte(kind::TEXT);
                        out.text(text);
                    }
                    Attribute::Integer(number) => {
                        out.byte(kind::INTEGER);
                        out.signed(*number);
                    }
                    Attribute::Real(number) => {
                        out.byte(kind::REAL);
                        // Zero has two spellings that are equal; adding zero leaves one.
                        out.raw(&(number + 0.0).to_le_bytes());
                    }
                    Attribute::Flag(flag) => out.byte(if *flag { kind::YES } else { kind::NO }),
                }
            }
        });
    }
}

struct Unpacker<'a> {
    map: u64,
    fields: Reader<'a>,
}

impl<'a> Unpacker<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, CodecError> {
        let mut fields = Reader::new(bytes);
        let version = fields.byte()?;
        if version != VERSION {
            return Err(CodecError::Version(version));
        }
        let map = fields.unsigned()?;
        let answer_without_field = |&(there, is): &(u64, u64)| map & there == 0 && map & is != 0;
        if map & !bit::ALL != 0 || bit::FLAGS.iter().any(answer_without_field) {
            return Err(CodecError::Malformed);
        }
        Ok(Self { map, fields })
    }

    fn field<T>(
        &mut self,
        bit: u64,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T, CodecError>,
    ) -> Result<Option<T>, CodecError> {
        if self.map & bit == 0 { Ok(None) } else { read(&mut self.fields).map(Some) }
    }

    fn number(&mut self, bit: u64) -> Result<Option<i64>, CodecError> {
        self.field(bit, Reader::signed)
    }

    fn milli(&mut self, bit: u64) -> Result<Option<Milli>, CodecError> {
        Ok(self.number(bit)?.map(Milli::from_thousandths))
    }

    const fn flag(&self, there: u64, is: u64) -> Option<bool> {
        if self.map & there == 0 { None } else { Some(self.map & is != 0) }
    }
}

#[cfg(test)]
pub(super) mod tests;
