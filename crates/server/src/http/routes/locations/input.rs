//! One location as a client sends it, judged without regard to anything else.

#[cfg(test)]
mod agree;
mod scan;
#[cfg(test)]
mod speed;

pub(super) use scan::scan_location;

use std::collections::BTreeMap;

use perigee_core::location::{FixSource, Latitude, Location, Longitude, Milli, Readings};
use perigee_core::text::{TAG_KEY_MAX, TAGS_MAX};
use perigee_core::zone::Zone;
use serde_json::Value;

use crate::http::json::{Fields, Pointer, Problem, Refusal, check_chars};
use crate::http::submission::{ItemError, read_attributes};

/// What only answers have; ignored, so that what was read may be sent again and is the same location.
const READ_ONLY: &[&str] = &["receivedAt", "late", "suspect"];
/// Satellites a fix may count.
const SATELLITES_MAX: u32 = 1_000;
const FULL_CIRCLE: Milli = Milli::from_thousandths(360_000);

/// The least and the most a measure may be.
#[derive(Clone, Copy, Debug)]
struct Bounds(Milli, Milli);

impl Bounds {
    const fn thousandths(least: i64, most: i64) -> Self {
        Self(Milli::from_thousandths(least), Milli::from_thousandths(most))
    }
}

const MOST: i64 = 1_000_000_000_000;
const EITHER_SIGN: Bounds = Bounds::thousandths(-MOST, MOST);
const POSITIVE: Bounds = Bounds::thousandths(0, MOST);
const PERCENT: Bounds = Bounds::thousandths(0, 100_000);
/// From the coldest there is.
const CELSIUS: Bounds = Bounds::thousandths(-273_150, MOST);

/// Reads one location that lies at this place of the body. A time without an offset is in the zone.
pub(in crate::http) fn read_location(
    item: &Value,
    place: Pointer,
    zone: &Zone,
) -> Result<Location, ItemError> {
    let invalid = |problems| ItemError { code: "invalid-location", problems };
    let Value::Object(members) = item else {
        let detail = "A location must be a JSON object with \"dateTime\", \"latitude\" and \"longitude\".";
        return Err(invalid(vec![Problem { pointer: place, detail: detail.to_owned() }]));
    };
    let mut fields = Fields::of_object(members, place).in_zone(zone);
    fields.ignore(READ_ONLY);
    let time = fields.instant("dateTime").required();
    let latitude = fields.number("latitude").convert(latitude).required();
    let longitude = fields.number("longitude").convert(longitude).required();
    let mut readings = read_readings(&mut fields);
    let (attributes, met_strange) = read_attributes(&mut fields);
    readings.attributes = attributes;
    let location = fields
        .finish(|| Some(Location { time: time?, latitude: latitude?, longitude: longitude?, readings }));
    location.map_err(|problems| {
        let only_strange = met_strange && problems.len() == 1;
        ItemError { code: if only_strange { "unknown-member" } else { "invalid-location" }, problems }
    })
}

/// Degrees north, as every body has them.
pub(in crate::http::routes) fn latitude(degrees: f64) -> Result<Latitude, Refusal> {
    Latitude::from_degrees(degrees).map_err(|_outside| outside(-90.0, 90.0, degrees))
}

/// Degrees east, as every body has them.
pub(in crate::http::routes) fn longitude(degrees: f64) -> Result<Longitude, Refusal> {
    Longitude::from_degrees(degrees).map_err(|_outside| outside(-180.0, 180.0, degrees))
}

fn outside(least: f64, most: f64, given: f64) -> Refusal {
    format!("must be between {least} and {most}, not {given}").into()
}

fn read_readings(fields: &mut Fields<'_>) -> Readings {
    Readings {
        altitude: measure(fields, "altitude", EITHER_SIGN),
        speed: measure(fields, "speed", POSITIVE),
        course: read_course(fields),
        accuracy: measure(fields, "accuracy", POSITIVE),
        valid: fields.boolean("valid").nullable(),
        satellites: fields.integer("satellites", 0..=SATELLITES_MAX).nullable(),
        hdop: measure(fields, "hdop", POSITIVE),
        battery: measure(fields, "battery", PERCENT),
        fuel: measure(fields, "fuel", PERCENT),
        fuel2: measure(fields, "fuel2", PERCENT),
        temperature: measure(fields, "temperature", CELSIUS),
        temperature2: measure(fields, "temperature2", CELSIUS),
        sensor_time_s: ["sensorTime1", "sensorTime2", "sensorTime3", "sensorTime4"]
            .map(|name| measure(fields, name, POSITIVE)),
        inactive_s: measure(fields, "inactiveSeconds", POSITIVE),
        rpm: measure(fields, "rpm", POSITIVE),
        mileage: read_mileage(fields),
        ignition: fields.boolean("ignition").nullable(),
        inputs: fields.array("inputs", 0..=Location::LIST_MAX).nullable(),
        outputs: fields.array("outputs", 0..=Location::LIST_MAX).nullable(),
        warnings: read_texts(fields, "warnings"),
        warning_texts: read_texts(fields, "warningTexts"),
        alerts: read_texts(fields, "alerts"),
        alert_texts: read_texts(fields, "alertTexts"),
        has_critical_alert: fields.boolean("hasCriticalAlert").nullable(),
        source: fields
            .text("source")
            .one_of(&FixSource::ALL.map(|source| (source.name(), source)))
            .nullable(),
        accessories: read_accessories(fields),
        attributes: BTreeMap::new(),
    }
}

/// A number within bounds, kept to the thousandth.
fn measure(fields: &mut Fields<'_>, name: &'static str, Bounds(least, most): Bounds) -> Option<Milli> {
    let (least, most) = (least.as_f64(), most.as_f64());
    let number = fields.number(name).convert(|number| {
        let kept = Milli::from_f64(number).ok().filter(|_| (least..=most).contains(&number));
        kept.ok_or_else(|| outside(least, most, number))
    });
    number.nullable()
}

fn read_course(fields: &mut Fields<'_>) -> Option<Milli> {
    fields.number("course").convert(course).nullable()
}

fn course(degrees: f64) -> Result<Milli, Refusal> {
    let kept = Milli::from_f64(degrees).ok().filter(|_| (0.0..=360.0).contains(&degrees));
    let kept = kept.ok_or_else(|| outside(0.0, 360.0, degrees))?;
    // A whole turn points north, also one that was rounded up to it.
    Ok(if kept == FULL_CIRCLE { Milli::from_thousandths(0) } else { kept })
}

/// The distance travelled, under its name or the spelling some clients use.
fn read_mileage(fields: &mut Fields<'_>) -> Option<Milli> {
    let mileage = measure(fields, "mileage", POSITIVE);
    let misspelt = measure(fields, "milleage", POSITIVE);
    if mileage.zip(misspelt).is_some_and(|(one, other)| one != other) {
        fields.refuse("milleage", "is another spelling of \"mileage\" and must not differ from it");
    }
    mileage.or(misspelt)
}

fn read_texts(fields: &mut Fields<'_>, name: &'static str) -> Option<Vec<String>> {
    let texts = fields.array::<String>(name, 0..=Location::LIST_MAX);
    texts.each(|text| check_chars(text, &(0..=Location::TEXT_MAX))).nullable()
}

fn read_accessories(fields: &mut Fields<'_>) -> Option<Vec<BTreeMap<String, String>>> {
    let accessories = fields.objects("accessoriesAttributes", 0..=Location::LIST_MAX, |accessory| {
        let members = accessory.take_unknown();
        let mut map = BTreeMap::new();
        for (count, (name, value)) in members.into_iter().enumerate() {
            let judged = match value {
                _ if count >= TAGS_MAX => Err(format!("is one member too many; {TAGS_MAX} are taken").into()),
                Value::String(text) => check_chars(name, &(1..=TAG_KEY_MAX))
                    .and_then(|()| check_chars(text, &(0..=Location::TEXT_MAX)))
                    .map(|()| text.clone()),
                _ => Err("must be a string".into()),
            };
            match judged {
                Ok(text) => drop(map.insert(name.to_owned(), text)),
                Err(refusal) => accessory.refuse(name, &refusal),
            }
        }
        Some(map)
    });
    accessories.nullable()
}

#[cfg(test)]
mod tests;
