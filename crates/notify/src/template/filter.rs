//! The filters of templates, which format values for the recipient. Unknown values stay empty.

use std::sync::Arc;

use minijinja::{Environment, Error, ErrorKind, Value};
use perigee_core::time::Timestamp;

use super::format::{Reader, plain_coordinates};
use crate::plain::excerpt;

/// The largest number that the filter `cut` accepts.
const CUT_MAX: usize = 2_000;

/// Registers the filters for this recipient.
pub(super) fn add_filters(environment: &mut Environment<'_>, reader: Reader) {
    let reader = Arc::new(reader);
    add(environment, "speed", &reader, |reader, value| Ok(reader.speed(number(value)?)));
    add(environment, "distance", &reader, |reader, value| Ok(reader.distance(number(value)?)));
    add(environment, "altitude", &reader, |reader, value| Ok(reader.altitude(number(value)?)));
    add(environment, "temperature", &reader, |reader, value| Ok(reader.temperature(number(value)?)));
    add(environment, "number", &reader, |reader, value| Ok(reader.number(number(value)?, 2)));
    add(environment, "time", &reader, |reader, value| Ok(reader.time(instant(value)?)));
    add(environment, "date", &reader, |reader, value| {
        match value.as_str().and_then(|text| text.parse().ok()) {
            Some(date) => Ok(reader.plain_date(date)),
            None => Ok(reader.date(instant(value)?)),
        }
    });
    add(environment, "short_time", &reader, |reader, value| Ok(reader.short_time(instant(value)?)));
    environment.add_filter("coordinates", move |value: Value, form: Option<String>| {
        coordinates(&reader, &value, form.as_deref())
    });
    environment.add_filter("cut", |value: Value, characters: usize| {
        let text = if value.is_none() { String::new() } else { value.to_string() };
        excerpt(&text, characters.min(CUT_MAX))
    });
}

fn add(
    environment: &mut Environment<'_>,
    name: &'static str,
    reader: &Arc<Reader>,
    write: fn(&Reader, &Value) -> Result<String, Error>,
) {
    let reader = Arc::clone(reader);
    environment.add_filter(name, move |value: Value| match known(&value)? {
        Some(value) => write(&reader, value),
        None => Ok(String::new()),
    });
}

fn known(value: &Value) -> Result<Option<&Value>, Error> {
    if value.is_undefined() {
        return Err(Error::new(ErrorKind::UndefinedError, "the value is not defined"));
    }
    Ok(if value.is_none() { None } else { Some(value) })
}

fn number(value: &Value) -> Result<f64, Error> {
    f64::try_from(value.clone())
        .ok()
        .filter(|number| number.is_finite())
        .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "this filter needs a number"))
}

fn instant(value: &Value) -> Result<Timestamp, Error> {
    value
        .as_str()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "this filter needs a time such as alert.time"))
}

fn coordinates(reader: &Reader, value: &Value, form: Option<&str>) -> Result<String, Error> {
    let Some(value) = known(value)? else { return Ok(String::new()) };
    let member = |name: &str| {
        let found = value.get_attr(name).ok().and_then(|member| f64::try_from(member).ok());
        found.ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidOperation,
                "this filter needs a pair of coordinates such as position",
            )
        })
    };
    let (latitude, longitude) = (member("latitude")?, member("longitude")?);
    match form {
        None => Ok(reader.coordinates(latitude, longitude)),
        Some("plain") => Ok(plain_coordinates(latitude, longitude)),
        Some("minutes") => Ok(reader.degrees_minutes(latitude, longitude)),
        Some(_) => Err(Error::new(
            ErrorKind::InvalidOperation,
            "the forms of coordinates are \"plain\" and \"minutes\"",
        )),
    }
}
