//! The fields of a location in the order in which they are written, and a selection of them.

use std::collections::BTreeMap;

pub use perigee_core::locations::location::Field;
use perigee_core::locations::location::{Attribute, FixSource, Location, Milli, StoredLocation, kind};
use perigee_core::reading_fields;
use perigee_core::time::Timestamp;

use super::text::{push_decimal, push_json_text, push_signed, push_time, push_whole};

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Datum<'l> {
    Time(Timestamp),
    /// In units of 0.0000001 degrees.
    Degrees(i32),
    Thousandths(Milli),
    Count(u32),
    Flag(bool),
    Word(&'static str),
    Flags(&'l [bool]),
    Texts(&'l [String]),
    Attributes(&'l BTreeMap<String, Attribute>),
    Accessories(&'l [BTreeMap<String, String>]),
}

/// Receives the fields of a location one after another.
pub(super) trait Visitor {
    /// Takes a field; `None` if the location does not have it.
    fn field(&mut self, field: Field, datum: Option<Datum<'_>>);
}

/// Which fields are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection(u64);

/// A reading as a value to write; `None` if it was not sent.
trait ToDatum {
    fn datum(&self) -> Option<Datum<'_>>;
}

impl ToDatum for kind::Number {
    #[inline]
    fn datum(&self) -> Option<Datum<'_>> {
        self.map(Datum::Thousandths)
    }
}

impl ToDatum for kind::Count {
    #[inline]
    fn datum(&self) -> Option<Datum<'_>> {
        self.map(Datum::Count)
    }
}

impl ToDatum for kind::Flag {
    #[inline]
    fn datum(&self) -> Option<Datum<'_>> {
        self.map(Datum::Flag)
    }
}

impl ToDatum for kind::Source {
    #[inline]
    fn datum(&self) -> Option<Datum<'_>> {
        self.map(FixSource::name).map(Datum::Word)
    }
}

impl ToDatum for kind::Flags {
    #[inline]
    fn datum(&self) -> Option<Datum<'_>> {
        self.as_deref().map(Datum::Flags)
    }
}

impl ToDatum for kind::Texts {
    #[inline]
    fn datum(&self) -> Option<Datum<'_>> {
        self.as_deref().map(Datum::Texts)
    }
}

impl ToDatum for kind::Attributes {
    #[inline]
    fn datum(&self) -> Option<Datum<'_>> {
        (!self.is_empty()).then_some(Datum::Attributes(self))
    }
}

impl ToDatum for kind::Accessories {
    #[inline]
    fn datum(&self) -> Option<Datum<'_>> {
        self.as_deref().map(Datum::Accessories)
    }
}

/// Passes a field to a visitor if it is selected. A macro, so that the field is a constant where it is written.
macro_rules! visit {
    ($selection:ident, $visitor:ident, $field:expr, $datum:expr) => {
        if $selection.has($field) {
            $visitor.field($field, $datum);
        }
    };
}

macro_rules! define {
    ($(
        $member:ident: $kind:ident $field:ident $name:literal $bounds:ident bit $bit:literal column $column:literal
        $example:literal $what:literal $($unit:literal)?;
    )+) => {
        /// The name of a field as the key of a JSON member, with a comma before it.
        pub(super) const fn key(field: Field) -> &'static [u8] {
            match field {
                Field::DateTime => b",\"dateTime\":",
                Field::Latitude => b",\"latitude\":",
                Field::Longitude => b",\"longitude\":",
                $(Field::$field => concat!(",\"", $name, "\":").as_bytes(),)+
                Field::ReceivedAt => b",\"receivedAt\":",
                Field::Late => b",\"late\":",
                Field::Suspect => b",\"suspect\":",
            }
        }

        /// Passes the selected fields of a location to a visitor. Unrolled, so that a field costs only its own check.
        #[inline(always)]
        pub(super) fn visit_fields(stored: &StoredLocation, selection: Selection, visitor: &mut impl Visitor) {
            let StoredLocation { location, received_at, trust, .. } = stored;
            visit!(selection, visitor, Field::DateTime, Some(Datum::Time(location.time)));
            visit!(selection, visitor, Field::Latitude, Some(Datum::Degrees(location.latitude.as_e7())));
            visit!(selection, visitor, Field::Longitude, Some(Datum::Degrees(location.longitude.as_e7())));
            $(visit!(selection, visitor, Field::$field, location.readings.$member.datum());)+
            visit!(selection, visitor, Field::ReceivedAt, Some(Datum::Time(*received_at)));
            visit!(selection, visitor, Field::Late, trust.late.then_some(Datum::Flag(true)));
            visit!(selection, visitor, Field::Suspect, trust.suspect.then_some(Datum::Flag(true)));
        }
    };
}

reading_fields!(define);

impl Selection {
    /// The selection of a request that names no fields.
    pub const ALL: Self = Self(u64::MAX);

    /// Selects only these fields.
    pub fn of(fields: &[Field]) -> Self {
        Self(fields.iter().fold(0, |chosen, field| chosen | 1 << (*field as u64)))
    }

    /// Removes these fields from the selection.
    pub(super) const fn without(self, fields: &[Field]) -> Self {
        let mut chosen = self.0;
        let mut index = 0;
        while index < fields.len() {
            chosen &= !(1 << (fields[index] as u64));
            index += 1;
        }
        Self(chosen)
    }

    /// Whether this field is selected.
    pub(super) const fn has(self, field: Field) -> bool {
        self.0 & (1 << (field as u64)) != 0
    }
}

impl Datum<'_> {
    /// Writes the value as JSON.
    #[expect(
        clippy::inline_always,
        reason = "the variant is known at each call, so that the match is optimised away"
    )]
    #[inline(always)]
    pub(super) fn push_json(self, out: &mut Vec<u8>) {
        match self {
            Self::Time(instant) => {
                out.push(b'"');
                push_time(out, instant);
                out.push(b'"');
            }
            Self::Word(word) => push_json_text(out, word),
            Self::Flags(flags) => push_list(out, flags, |out, flag| push_flag(out, *flag)),
            Self::Texts(texts) => push_list(out, texts, |out, text| push_json_text(out, text)),
            Self::Attributes(attributes) => push_map(out, attributes, push_attribute),
            Self::Accessories(accessories) => push_list(out, accessories, |out, accessory| {
                push_map(out, accessory, |out, text| push_json_text(out, text));
            }),
            Self::Degrees(_) | Self::Thousandths(_) | Self::Count(_) | Self::Flag(_) => {
                self.push_plain(out);
            }
        }
    }

    /// Writes the value as text that needs no escaping in any format. Gives false, and writes nothing, for lists and
    /// maps.
    #[expect(
        clippy::inline_always,
        reason = "the variant is known at each call, so that the match is optimised away"
    )]
    #[inline(always)]
    pub(super) fn push_plain(self, out: &mut Vec<u8>) -> bool {
        match self {
            Self::Time(instant) => push_time(out, instant),
            Self::Degrees(units) => push_decimal::<7>(out, i64::from(units)),
            Self::Thousandths(number) => push_decimal::<3>(out, number.as_thousandths()),
            Self::Count(count) => push_whole(out, u64::from(count)),
            Self::Flag(flag) => push_flag(out, flag),
            Self::Word(word) => out.extend_from_slice(word.as_bytes()),
            Self::Flags(_) | Self::Texts(_) | Self::Attributes(_) | Self::Accessories(_) => return false,
        }
        true
    }
}

/// Writes longitude, latitude and, if known, altitude, the order of GeoJSON and KML.
pub(super) fn push_coordinates(out: &mut Vec<u8>, location: &Location) {
    Datum::Degrees(location.longitude.as_e7()).push_plain(out);
    out.push(b',');
    Datum::Degrees(location.latitude.as_e7()).push_plain(out);
    if let Some(altitude) = location.readings.altitude {
        out.push(b',');
        Datum::Thousandths(altitude).push_plain(out);
    }
}

fn push_flag(out: &mut Vec<u8>, flag: bool) {
    out.extend_from_slice(if flag { b"true" } else { b"false" });
}

fn push_attribute(out: &mut Vec<u8>, attribute: &Attribute) {
    match attribute {
        Attribute::Text(text) => push_json_text(out, text),
        Attribute::Integer(whole) => push_signed(out, *whole),
        // The only float: attribute values are arbitrary numbers, and rare.
        Attribute::Real(real) => out.extend_from_slice(serde_json::Value::from(*real).to_string().as_bytes()),
        Attribute::Flag(flag) => push_flag(out, *flag),
    }
}

fn push_list<T>(out: &mut Vec<u8>, items: &[T], push: impl Fn(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push(out, item);
    }
    out.push(b']');
}

fn push_map<T>(out: &mut Vec<u8>, members: &BTreeMap<String, T>, push: impl Fn(&mut Vec<u8>, &T)) {
    out.push(b'{');
    for (index, (name, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_json_text(out, name);
        out.push(b':');
        push(out, value);
    }
    out.push(b'}');
}
