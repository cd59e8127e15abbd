//! The words for a position, in the language and the units of the reader.

use super::gazetteer::{Near, gazetteer};
use crate::accounts::country::name_in;
use crate::language::{ConsoleLanguage, PlaceWords, words as words_of};
use crate::locations::location::{Latitude, Longitude};
use crate::notifications::routing::Units;

/// Below this distance in metres, the name of the place is enough: its position is accurate to about 300 m, and towns
/// are large.
const AT_M: f64 = 1_500.0;
const MILE_M: f64 = 1_609.344;
const NAUTICAL_MILE_M: f64 = 1_852.0;

/// Language and units of the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader {
    /// Language of the words and, where it has one, of the name of the place.
    pub language: ConsoleLanguage,
    /// Units of the distance.
    pub units: Units,
}

/// How long the words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// With the country: "21 km SW of Vigo, Spain".
    Full,
    /// Without it, for SMS: "21 km SW of Vigo".
    Short,
}

/// A position in words; `None` only without a gazetteer.
pub fn describe((latitude, longitude): (Latitude, Longitude), reader: Reader, form: Form) -> Option<String> {
    gazetteer().nearest(latitude, longitude).map(|near| words(&near, reader, form))
}

fn words(near: &Near<'_>, reader: Reader, form: Form) -> String {
    let mut name = near.place.name(reader.language).to_owned();
    if let (Some(country), Form::Full) = (near.place.country, form) {
        name = format!("{name}, {}", name_in(country, reader.language));
    }
    if near.metres < AT_M {
        return name;
    }
    let texts = &words_of(reader.language).place;
    let (distance, point) = (distance(near.metres, reader.units, texts), point(near.bearing, texts));
    format!("{distance} {} {}", texts.to.replace("{point}", point), of(&name, texts))
}

/// "of" the name, contracted as the language demands.
fn of(name: &str, texts: &PlaceWords) -> String {
    let contracted = texts.contractions.iter().find_map(|(begin, of_begin)| {
        name.strip_prefix(begin.as_str()).map(|rest| format!("{of_begin}{rest}"))
    });
    contracted.unwrap_or_else(|| format!("{} {name}", texts.of))
}

/// In whole units, since the positions of places are not accurate enough for more.
fn distance(metres: f64, units: Units, texts: &PlaceWords) -> String {
    let (unit_m, unit) = match units {
        Units::Metric => (1_000.0, "km"),
        Units::Imperial => (MILE_M, "mi"),
        Units::Nautical => (NAUTICAL_MILE_M, texts.nautical_miles.as_str()),
    };
    let whole = format!("{:.0}", metres / unit_m);
    // Half the circumference of the earth has five digits.
    let split = whole.len().checked_sub(3).filter(|_| whole.len() >= texts.grouped_digits);
    match split.and_then(|before| whole.split_at_checked(before)) {
        Some((thousands, rest)) if !thousands.is_empty() => {
            format!("{thousands}{}{rest} {unit}", texts.thousands)
        }
        _ => format!("{whole} {unit}"),
    }
}

/// The nearest of the sixteen points of the compass.
fn point(bearing: f64, texts: &PlaceWords) -> &str {
    // Each point stands for the 22.5 degrees around it.
    let from_first = (bearing + 11.25).rem_euclid(360.0);
    let index = (1_u8..16).take_while(|number| f64::from(*number) * 22.5 <= from_first).count();
    texts.points.get(index).map_or("N", String::as_str)
}
