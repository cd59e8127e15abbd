//! The fast path for ordinary locations: they are read straight from JSON text, without building a
//! `serde_json::Value`, because a busy service does this most. The result is that of [`super::read_location`]. `None`
//! means that the text must be read, and perhaps refused, by that function.

use std::collections::BTreeMap;

use perigee_core::locations::location::{
    Attribute, Bounds, Field, FixSource, Latitude, Location, Longitude, MILEAGE_ALIAS, Milli, Readings, kind,
};
use perigee_core::reading_fields;
use perigee_core::text::SHORT_MAX;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use crate::http::json::{Number, Scanner, check_chars, read_instant};

/// Decimals of a degree that are stored.
const DEGREE_DECIMALS: usize = 7;
/// Decimals of a reading that are stored.
const READING_DECIMALS: usize = 3;
const MERIDIAN_E7: i32 = 1_800_000_000;
const POLE_E7: i32 = 900_000_000;
/// The bit of [`MILEAGE_ALIAS`] in the set of members that were read; fields have the lower bits.
const ALIAS_BIT: u32 = 63;

/// Reads a location. After `None` the scanner is at an undefined position.
pub(in crate::http::routes::locations) fn scan_location(
    scanner: &mut Scanner<'_>,
    zone: &Zone,
) -> Option<Location> {
    if !scanner.take(b'{') {
        return None;
    }
    let mut parts = Parts::default();
    let length = scanner.remaining();
    loop {
        let name = scanner.name()?;
        parts.member(name, scanner, zone)?;
        if !scanner.take(b',') {
            break;
        }
    }
    // Only the slow path checks whether a longer location has too many bytes of text.
    let is_short = length - scanner.remaining() <= Location::ALL_TEXTS_MAX_BYTES;
    if is_short && scanner.take(b'}') { parts.finish() } else { None }
}

/// The members read so far.
#[derive(Default)]
struct Parts {
    time: Option<Timestamp>,
    latitude: Option<Latitude>,
    longitude: Option<Longitude>,
    readings: Readings,
    /// The mileage under its alias.
    mileage_alias: Option<Milli>,
    /// Unknown members, which become attributes.
    unknown: BTreeMap<String, Attribute>,
    /// A bit for each known member that was read.
    members_read: u64,
}

macro_rules! define {
    ($(
        $member:ident: $kind:ident $field:ident $name:literal $bounds:ident bit $bit:literal column $column:literal
        $example:literal $what:literal $($unit:literal)?;
    )+) => {
        impl Parts {
            /// Reads the value of a member whose name has this length. Names of other lengths are excluded at
            /// compile time.
            #[inline]
            fn member_of_length<const LENGTH: usize>(
                &mut self,
                name: &str,
                scanner: &mut Scanner<'_>,
                zone: &Zone,
            ) -> Option<()> {
                if const { Field::DateTime.name().len() == LENGTH } && name == Field::DateTime.name() {
                    self.once(Field::DateTime as u32)?;
                    self.time = Some(read_instant(scanner.text()?, zone)?);
                    return Some(());
                }
                if const { Field::Latitude.name().len() == LENGTH } && name == Field::Latitude.name() {
                    self.once(Field::Latitude as u32)?;
                    self.latitude = Some(latitude(scanner.number()?)?);
                    return Some(());
                }
                if const { Field::Longitude.name().len() == LENGTH } && name == Field::Longitude.name() {
                    self.once(Field::Longitude as u32)?;
                    self.longitude = Some(longitude(scanner.number()?)?);
                    return Some(());
                }
                $(
                    if const { $name.len() == LENGTH } && name == $name {
                        return self.once(Field::$field as u32)?.$member.scan(scanner, Bounds::$bounds);
                    }
                )+
                if const { MILEAGE_ALIAS.len() == LENGTH } && name == MILEAGE_ALIAS {
                    self.once(ALIAS_BIT)?;
                    return self.mileage_alias.scan(scanner, Bounds::NOT_NEGATIVE);
                }
                self.other(name, scanner)
            }
        }

        $(const _: () = assert!($name.len() <= 24, "member() handles names of up to 24 bytes");)+
    };
}

reading_fields!(define);

impl Parts {
    /// Marks a member as read. `None` if it was read before.
    #[inline]
    fn once(&mut self, bit: u32) -> Option<&mut Readings> {
        let bit = 1 << bit;
        let is_first = self.members_read & bit == 0;
        self.members_read |= bit;
        is_first.then_some(&mut self.readings)
    }

    /// Reads the value of a member. Names are distinguished by length first, because comparing with each name takes
    /// longer than reading the value.
    fn member(&mut self, name: &str, scanner: &mut Scanner<'_>, zone: &Zone) -> Option<()> {
        macro_rules! by_length {
            ($($length:literal)+) => {
                match name.len() {
                    $($length => self.member_of_length::<$length>(name, scanner, zone),)+
                    _ => self.other(name, scanner),
                }
            };
        }
        by_length!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24)
    }

    /// An unknown member is an attribute. Members that only answers have are left to the slow path, which ignores
    /// them.
    fn other(&mut self, name: &str, scanner: &mut Scanner<'_>) -> Option<()> {
        if Field::READ_ONLY.iter().any(|field| field.name() == name) {
            return None;
        }
        let value = attribute(name, scanner)?;
        self.unknown.insert(name.to_owned(), value).is_none().then_some(())
    }

    fn finish(mut self) -> Option<Location> {
        let readings = &mut self.readings;
        if readings.mileage.zip(self.mileage_alias).is_some_and(|(one, other)| one != other) {
            return None;
        }
        readings.mileage = readings.mileage.or(self.mileage_alias);
        // Names in `attributes` take precedence.
        for (name, value) in self.unknown {
            readings.attributes.entry(name).or_insert(value);
        }
        if readings.attributes.len() > Location::ATTRIBUTES_MAX {
            return None;
        }
        let (time, latitude, longitude) = (self.time?, self.latitude?, self.longitude?);
        Some(Location { time, latitude, longitude, readings: self.readings })
    }
}

/// Reads a value with `read`, or null, which means the same as no member.
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

/// Degrees with no more decimals than are stored need no float: parsing and rounding would give the same digits.
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

/// Reads the value of a reading of this kind.
trait Scan {
    fn scan(&mut self, scanner: &mut Scanner<'_>, bounds: Bounds) -> Option<()>;
}

impl Scan for kind::Number {
    #[inline]
    fn scan(&mut self, scanner: &mut Scanner<'_>, bounds: Bounds) -> Option<()> {
        fill(self, scanner, |scanner| {
            let number = scanner.number()?;
            match number.scaled(READING_DECIMALS) {
                Some(units) => bounds.accept_thousandths(units).ok(),
                None => bounds.accept(number.to_f64()?).ok(),
            }
        })
    }
}

impl Scan for kind::Count {
    fn scan(&mut self, scanner: &mut Scanner<'_>, bounds: Bounds) -> Option<()> {
        fill(self, scanner, |scanner| {
            let count = u32::try_from(scanner.number()?.whole()?).ok()?;
            bounds.whole_range().contains(&count).then_some(count)
        })
    }
}

impl Scan for kind::Flag {
    fn scan(&mut self, scanner: &mut Scanner<'_>, _bounds: Bounds) -> Option<()> {
        fill(self, scanner, Scanner::boolean)
    }
}

impl Scan for kind::Source {
    fn scan(&mut self, scanner: &mut Scanner<'_>, _bounds: Bounds) -> Option<()> {
        fill(self, scanner, |scanner| {
            let name = scanner.text()?;
            FixSource::ALL.into_iter().find(|source| source.name() == name)
        })
    }
}

impl Scan for kind::Flags {
    fn scan(&mut self, scanner: &mut Scanner<'_>, _bounds: Bounds) -> Option<()> {
        fill(self, scanner, |scanner| list(scanner, Scanner::boolean))
    }
}

impl Scan for kind::Texts {
    fn scan(&mut self, scanner: &mut Scanner<'_>, _bounds: Bounds) -> Option<()> {
        fill(self, scanner, |scanner| {
            list(scanner, |scanner| {
                let text = scanner.text()?;
                check_chars(text, &(0..=Location::TEXT_MAX)).ok()?;
                (!text.chars().any(char::is_control)).then(|| text.to_owned())
            })
        })
    }
}

impl Scan for kind::Attributes {
    fn scan(&mut self, scanner: &mut Scanner<'_>, _bounds: Bounds) -> Option<()> {
        *self = attributes(scanner)?;
        Some(())
    }
}

impl Scan for kind::Accessories {
    /// Rare, and left to the slow path.
    fn scan(&mut self, _scanner: &mut Scanner<'_>, _bounds: Bounds) -> Option<()> {
        None
    }
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
