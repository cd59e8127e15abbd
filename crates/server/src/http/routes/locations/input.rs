//! One location as a client sends it, validated by itself.

#[cfg(test)]
mod agree;
mod scan;
#[cfg(test)]
mod speed;

pub(super) use scan::scan_location;

use std::collections::BTreeMap;

use perigee_core::locations::location::{
    Bounds, Field, FixSource, Latitude, Location, Longitude, MILEAGE_ALIAS, Milli, Readings, kind,
};
use perigee_core::reading_fields;
use perigee_core::text::{TAG_KEY_MAX, TAGS_MAX};
use perigee_core::zone::Zone;
use serde_json::Value;

use crate::http::json::{Fields, Pointer, Problem, Refusal, check_chars};
use crate::http::submission::{ItemError, attribute_bytes, check_texts, read_attributes};

/// Reads the location at this pointer of the body. A time without an offset is in the zone.
pub(in crate::http) fn read_location(
    item: &Value,
    pointer: Pointer,
    zone: &Zone,
) -> Result<Location, ItemError> {
    let invalid = |problems| ItemError { code: "invalid-location", problems };
    let Value::Object(members) = item else {
        let detail = "A location must be a JSON object with \"dateTime\", \"latitude\" and \"longitude\".";
        return Err(invalid(vec![Problem { pointer, detail: detail.to_owned() }]));
    };
    let mut fields = Fields::of_object(members, pointer).in_zone(zone);
    fields.ignore(&Field::READ_ONLY.map(Field::name));
    let time = fields.instant(Field::DateTime.name()).required();
    let latitude = fields.number(Field::Latitude.name()).convert(latitude).required();
    let longitude = fields.number(Field::Longitude.name()).convert(longitude).required();
    let mut readings = read_readings(&mut fields);
    let (attributes, has_unknown) = read_attributes(&mut fields);
    readings.attributes = attributes;
    check_texts(&mut fields, text_bytes(&readings));
    let location = fields
        .finish(|| Some(Location { time: time?, latitude: latitude?, longitude: longitude?, readings }));
    location.map_err(|problems| {
        let only_unknown = has_unknown && problems.len() == 1;
        ItemError { code: if only_unknown { "unknown-member" } else { "invalid-location" }, problems }
    })
}

/// Converts degrees north, with the same message in every kind of body.
pub(in crate::http::routes) fn latitude(degrees: f64) -> Result<Latitude, Refusal> {
    Latitude::from_degrees(degrees).map_err(|_outside| outside(-90.0, 90.0, degrees))
}

/// Converts degrees east, with the same message in every kind of body.
pub(in crate::http::routes) fn longitude(degrees: f64) -> Result<Longitude, Refusal> {
    Longitude::from_degrees(degrees).map_err(|_outside| outside(-180.0, 180.0, degrees))
}

fn outside(least: f64, most: f64, given: f64) -> Refusal {
    format!("must be between {least} and {most}, not {given}").into()
}

macro_rules! define {
    ($(
        $member:ident: $kind:ident $field:ident $name:literal $bounds:ident bit $bit:literal column $column:literal
        $example:literal $what:literal $($unit:literal)?;
    )+) => {
        fn read_readings(fields: &mut Fields<'_>) -> Readings {
            Readings { $($member: define!(@ $field fields $name Bounds::$bounds),)+ }
        }

        /// Bytes of all texts.
        fn text_bytes(readings: &Readings) -> usize {
            0 $(+ ReadField::text_bytes(&readings.$member))+
        }
    };
    (@ Mileage $fields:ident $name:literal $bounds:expr) => { read_mileage($fields, $name, $bounds) };
    (@ $field:ident $fields:ident $name:literal $bounds:expr) => { ReadField::read($fields, $name, $bounds) };
}

reading_fields!(define);

/// Reads a reading of this kind. Problems are added to `fields`.
trait ReadField {
    fn read(fields: &mut Fields<'_>, name: &'static str, bounds: Bounds) -> Self;

    /// Bytes of its texts.
    fn text_bytes(&self) -> usize {
        0
    }
}

impl ReadField for kind::Number {
    fn read(fields: &mut Fields<'_>, name: &'static str, bounds: Bounds) -> Self {
        let number = fields.number(name).convert(|number| {
            let refusal = |_outside| outside(bounds.least.as_f64(), bounds.most.as_f64(), number);
            bounds.accept(number).map_err(refusal)
        });
        number.nullable()
    }
}

impl ReadField for kind::Count {
    fn read(fields: &mut Fields<'_>, name: &'static str, bounds: Bounds) -> Self {
        fields.integer(name, bounds.whole_range()).nullable()
    }
}

impl ReadField for kind::Flag {
    fn read(fields: &mut Fields<'_>, name: &'static str, _bounds: Bounds) -> Self {
        fields.boolean(name).nullable()
    }
}

impl ReadField for kind::Source {
    fn read(fields: &mut Fields<'_>, name: &'static str, _bounds: Bounds) -> Self {
        fields.text(name).one_of(&FixSource::ALL.map(|source| (source.name(), source))).nullable()
    }
}

impl ReadField for kind::Flags {
    fn read(fields: &mut Fields<'_>, name: &'static str, _bounds: Bounds) -> Self {
        fields.array(name, 0..=Location::LIST_MAX).nullable()
    }
}

impl ReadField for kind::Texts {
    fn read(fields: &mut Fields<'_>, name: &'static str, _bounds: Bounds) -> Self {
        let texts = fields.array::<String>(name, 0..=Location::LIST_MAX);
        texts.each(|text| check_chars(text, &(0..=Location::TEXT_MAX))).nullable()
    }

    fn text_bytes(&self) -> usize {
        self.iter().flatten().map(String::len).sum()
    }
}

impl ReadField for kind::Attributes {
    /// Attributes are read last, when all other members are known.
    fn read(_fields: &mut Fields<'_>, _name: &'static str, _bounds: Bounds) -> Self {
        Self::new()
    }

    fn text_bytes(&self) -> usize {
        attribute_bytes(self)
    }
}

impl ReadField for kind::Accessories {
    fn read(fields: &mut Fields<'_>, name: &'static str, _bounds: Bounds) -> Self {
        fields.objects(name, 0..=Location::LIST_MAX, |accessory| Some(read_accessory(accessory))).nullable()
    }

    fn text_bytes(&self) -> usize {
        self.iter().flatten().flatten().map(|(key, value)| key.len() + value.len()).sum()
    }
}

fn read_accessory(accessory: &mut Fields<'_>) -> BTreeMap<String, String> {
    let mut map = BTreeMap::new();
    for (count, (name, value)) in accessory.take_unknown().into_iter().enumerate() {
        let checked = match value {
            _ if count >= TAGS_MAX => Err(format!("must have at most {TAGS_MAX} members").into()),
            Value::String(text) => check_chars(name, &(1..=TAG_KEY_MAX))
                .and_then(|()| check_chars(text, &(0..=Location::TEXT_MAX)))
                .map(|()| text.clone()),
            _ => Err("must be a string".into()),
        };
        match checked {
            Ok(text) => drop(map.insert(name.to_owned(), text)),
            Err(refusal) => accessory.refuse(name, &refusal),
        }
    }
    map
}

/// The distance travelled, under its name or its alias.
fn read_mileage(fields: &mut Fields<'_>, name: &'static str, bounds: Bounds) -> Option<Milli> {
    let mileage = kind::Number::read(fields, name, bounds);
    let alias = kind::Number::read(fields, MILEAGE_ALIAS, bounds);
    if mileage.zip(alias).is_some_and(|(one, other)| one != other) {
        fields.refuse(
            MILEAGE_ALIAS,
            "is another spelling of \"mileage\" and must have the same value; send only one of them",
        );
    }
    mileage.or(alias)
}

#[cfg(test)]
mod tests;
