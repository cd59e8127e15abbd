//! An ordinary location read straight from JSON text, without a value of it: most are, and this is what a busy
//! service does most. Gives what [`super::read_location`] gives, or None and leaves the judgement to that.

use std::collections::BTreeMap;

use perigee_core::location::{Attribute, FixSource, Latitude, Location, Longitude, Milli, Readings};
use perigee_core::text::SHORT_MAX;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use super::{Bounds, CELSIUS, EITHER_SIGN, PERCENT, POSITIVE, READ_ONLY, SATELLITES_MAX};
use crate::http::json::{Number, Scanner, check_chars, read_instant};

/// Decimals of a degree that are kept.
const DEGREE_DECIMALS: usize = 7;
/// Decimals of a measure that are kept.
const MEASURE_DECIMALS: usize = 3;
const MERIDIAN_E7: i32 = 1_800_000_000;
const POLE_E7: i32 = 900_000_000;

/// Takes a location. After None the scanner stands anywhere.
pub(in crate::http::routes::locations) fn scan_location(
    scanner: &mut Scanner<'_>,
    zone: &Zone,
) -> Option<Location> {
    if !scanner.take(b'{') {
        return None;
    }
    let mut parts = Parts::default();
    loop {
        let name = scanner.name()?;
        parts.member(name, scanner, zone)?;
        if !scanner.take(b',') {
            break;
        }
    }
    if scanner.take(b'}') { parts.finish() } else { None }
}

/// What was met so far.
#[derive(Default)]
struct Parts {
    time: Option<Timestamp>,
    latitude: Option<Latitude>,
    longitude: Option<Longitude>,
    readings: Readings,
    /// Mileage under the spelling some clients use.
    misspelt_mileage: Option<Milli>,
    /// Members nobody knows.
    loose: BTreeMap<String, Attribute>,
    /// One bit for each known member that was met.
    met: u64,
}

impl Parts {
    /// Notes that a member was met, each under its own number. None when it was met before.
    #[inline]
    fn once(&mut self, number: u32) -> Option<&mut Readings> {
        let bit = 1 << number;
        let is_first = self.met & bit == 0;
        self.met |= bit;
        is_first.then_some(&mut self.readings)
    }

    /// Takes the value of a member. Names are told apart by length first, since comparing with each takes longer than
    /// reading the value.
    fn member(&mut self, name: &str, s: &mut Scanner<'_>, zone: &Zone) -> Option<()> {
        match name.len() {
            3 if name == "rpm" => measure(&mut self.once(0)?.rpm, s, POSITIVE)?,
            4 => match name {
                "hdop" => measure(&mut self.once(1)?.hdop, s, POSITIVE)?,
                "fuel" => measure(&mut self.once(2)?.fuel, s, PERCENT)?,
                _ => self.other(name, s)?,
            },
            5 => match name {
                "speed" => measure(&mut self.once(3)?.speed, s, POSITIVE)?,
                "valid" => flag(&mut self.once(4)?.valid, s)?,
                "fuel2" => measure(&mut self.once(5)?.fuel2, s, PERCENT)?,
                _ => self.other(name, s)?,
            },
            6 => match name {
                "course" => course(&mut self.once(6)?.course, s)?,
                "source" => source(&mut self.once(7)?.source, s)?,
                "inputs" => flags(&mut self.once(8)?.inputs, s)?,
                "alerts" => texts(&mut self.once(9)?.alerts, s)?,
                _ => self.other(name, s)?,
            },
            7 => match name {
                "battery" => measure(&mut self.once(10)?.battery, s, PERCENT)?,
                "mileage" => measure(&mut self.once(11)?.mileage, s, POSITIVE)?,
                "outputs" => flags(&mut self.once(12)?.outputs, s)?,
                _ => self.other(name, s)?,
            },
            8 => match name {
                "dateTime" => {
                    self.once(13)?;
                    self.time = Some(read_instant(s.text()?, zone)?);
                }
                "latitude" => {
                    self.once(14)?;
                    self.latitude = Some(latitude(s.number()?)?);
                }
                "altitude" => measure(&mut self.once(15)?.altitude, s, EITHER_SIGN)?,
                "accuracy" => measure(&mut self.once(16)?.accuracy, s, POSITIVE)?,
                "ignition" => flag(&mut self.once(17)?.ignition, s)?,
                "milleage" => {
                    self.once(18)?;
                    measure(&mut self.misspelt_mileage, s, POSITIVE)?;
                }
                "warnings" => texts(&mut self.once(19)?.warnings, s)?,
                _ => self.other(name, s)?,
            },
            9 if name == "longitude" => {
                self.once(20)?;
                self.longitude = Some(longitude(s.number()?)?);
            }
            10 => match name {
                "satellites" => satellites(&mut self.once(21)?.satellites, s)?,
                "alertTexts" => texts(&mut self.once(22)?.alert_texts, s)?,
                "attributes" => self.once(23)?.attributes = attributes(s)?,
                _ => self.other(name, s)?,
            },
            11 => match name {
                "temperature" => measure(&mut self.once(24)?.temperature, s, CELSIUS)?,
                "sensorTime1" => measure(&mut self.once(25)?.sensor_time_s[0], s, POSITIVE)?,
                "sensorTime2" => measure(&mut self.once(26)?.sensor_time_s[1], s, POSITIVE)?,
                "sensorTime3" => measure(&mut self.once(27)?.sensor_time_s[2], s, POSITIVE)?,
                "sensorTime4" => measure(&mut self.once(28)?.sensor_time_s[3], s, POSITIVE)?,
                _ => self.other(name, s)?,
            },
            12 => match name {
                "temperature2" => measure(&mut self.once(29)?.temperature2, s, CELSIUS)?,
                "warningTexts" => texts(&mut self.once(30)?.warning_texts, s)?,
                _ => self.other(name, s)?,
            },
            15 if name == "inactiveSeconds" => measure(&mut self.once(31)?.inactive_s, s, POSITIVE)?,
            16 if name == "hasCriticalAlert" => flag(&mut self.once(32)?.has_critical_alert, s)?,
            _ => self.other(name, s)?,
        }
        Some(())
    }

    /// A member nobody knows is an attribute. What is known but rare is left.
    fn other(&mut self, name: &str, s: &mut Scanner<'_>) -> Option<()> {
        if name == "accessoriesAttributes" || READ_ONLY.contains(&name) {
            return None;
        }
        let value = attribute(name, s)?;
        self.loose.insert(name.to_owned(), value).is_none().then_some(())
    }

    fn finish(mut self) -> Option<Location> {
        let readings = &mut self.readings;
        if readings.mileage.zip(self.misspelt_mileage).is_some_and(|(one, other)| one != other) {
            return None;
        }
        readings.mileage = readings.mileage.or(self.misspelt_mileage);
        // Those that `attributes` names itself stand first.
        for (name, value) in self.loose {
            readings.attributes.entry(name).or_insert(value);
        }
        if readings.attributes.len() > Location::ATTRIBUTES_MAX {
            return None;
        }
        let (time, latitude, longitude) = (self.time?, self.latitude?, self.longitude?);
        Some(Location { time, latitude, longitude, readings: self.readings })
    }
}

/// Takes what `read` takes, or null, which means the same as nothing.
#[inline]
fn fill<'t, T>(
    slot: &mut Option<T>,
    scanner: &mut Scanner<'t>,
    read: impl FnOnce(&mut Scanner<'t>) -> Option<T>,
) -> Option<()> {
    if !scanner.null() {
        *slot = Some(read(scanner)?);
    }
    Some(())
}

/// Degrees with no more decimals than are kept need no float: the nearest float, scaled and rounded, is them again.
fn scaled_degrees(number: Number<'_>) -> Option<i32> {
    number.scaled(DEGREE_DECIMALS).and_then(|units| i32::try_from(units).ok())
}

fn latitude(number: Number<'_>) -> Option<Latitude> {
    match scaled_degrees(number) {
        Some(units) if (-POLE_E7..=POLE_E7).contains(&units) => Some(Latitude::from_e7(units)),
        _ => super::latitude(number.to_f64()?).ok(),
    }
}

fn longitude(number: Number<'_>) -> Option<Longitude> {
    match scaled_degrees(number) {
        Some(units) if (1 - MERIDIAN_E7..MERIDIAN_E7).contains(&units) => Some(Longitude::from_e7(units)),
        _ => super::longitude(number.to_f64()?).ok(),
    }
}

#[inline]
fn measure(slot: &mut Option<Milli>, scanner: &mut Scanner<'_>, Bounds(least, most): Bounds) -> Option<()> {
    fill(slot, scanner, |scanner| {
        let number = scanner.number()?;
        if let Some(units) = number.scaled(MEASURE_DECIMALS) {
            let kept = Milli::from_thousandths(units);
            return (least..=most).contains(&kept).then_some(kept);
        }
        let number = number.to_f64()?;
        let kept = Milli::from_f64(number).ok()?;
        (least.as_f64()..=most.as_f64()).contains(&number).then_some(kept)
    })
}

fn course(slot: &mut Option<Milli>, scanner: &mut Scanner<'_>) -> Option<()> {
    fill(slot, scanner, |scanner| {
        let number = scanner.number()?;
        match number.scaled(MEASURE_DECIMALS) {
            Some(units @ 0..360_000) => Some(Milli::from_thousandths(units)),
            _ => super::course(number.to_f64()?).ok(),
        }
    })
}

fn satellites(slot: &mut Option<u32>, scanner: &mut Scanner<'_>) -> Option<()> {
    fill(slot, scanner, |scanner| {
        let count = u32::try_from(scanner.number()?.whole()?).ok()?;
        (count <= SATELLITES_MAX).then_some(count)
    })
}

fn flag(slot: &mut Option<bool>, scanner: &mut Scanner<'_>) -> Option<()> {
    fill(slot, scanner, Scanner::boolean)
}

fn source(slot: &mut Option<FixSource>, scanner: &mut Scanner<'_>) -> Option<()> {
    fill(slot, scanner, |scanner| {
        let name = scanner.text()?;
        FixSource::ALL.into_iter().find(|source| source.name() == name)
    })
}

fn flags(slot: &mut Option<Vec<bool>>, scanner: &mut Scanner<'_>) -> Option<()> {
    fill(slot, scanner, |scanner| list(scanner, Scanner::boolean))
}

fn texts(slot: &mut Option<Vec<String>>, scanner: &mut Scanner<'_>) -> Option<()> {
    fill(slot, scanner, |scanner| {
        list(scanner, |scanner| {
            let text = scanner.text()?;
            check_chars(text, &(0..=Location::TEXT_MAX)).ok()?;
            (!text.chars().any(char::is_control)).then(|| text.to_owned())
        })
    })
}

fn list<'t, T>(scanner: &mut Scanner<'t>, read: impl Fn(&mut Scanner<'t>) -> Option<T>) -> Option<Vec<T>> {
    if !scanner.take(b'[') {
        return None;
    }
    scanner.count_values(1);
    let mut items = Vec::new();
    if scanner.take(b']') {
        return Some(items);
    }
    while items.len() < Location::LIST_MAX {
        items.push(read(scanner)?);
        if !scanner.take(b',') {
            return scanner.take(b']').then_some(items);
        }
    }
    None
}

fn attributes(scanner: &mut Scanner<'_>) -> Option<BTreeMap<String, Attribute>> {
    let mut attributes = BTreeMap::new();
    if scanner.null() {
        return Some(attributes);
    }
    if !scanner.take(b'{') {
        return None;
    }
    scanner.count_values(1);
    if scanner.take(b'}') {
        return Some(attributes);
    }
    while attributes.len() < Location::ATTRIBUTES_MAX {
        let name = scanner.name()?;
        let value = attribute(name, scanner)?;
        if attributes.insert(name.to_owned(), value).is_some() {
            return None;
        }
        if !scanner.take(b',') {
            return scanner.take(b'}').then_some(attributes);
        }
    }
    None
}

fn attribute(name: &str, scanner: &mut Scanner<'_>) -> Option<Attribute> {
    check_chars(name, &(1..=SHORT_MAX)).ok()?;
    if name.chars().any(char::is_control) {
        return None;
    }
    match scanner.peek()? {
        b'"' => {
            let text = scanner.text()?;
            check_chars(text, &(0..=Location::TEXT_MAX)).ok()?;
            Some(Attribute::Text(text.to_owned()))
        }
        b't' | b'f' => scanner.boolean().map(Attribute::Flag),
        _ => {
            let number = scanner.number()?;
            if number.has_decimals() {
                number.to_f64().map(Attribute::Real)
            } else {
                number.whole().map(Attribute::Integer)
            }
        }
    }
}
