//! The words for a position, in the language and the units of the reader.

use super::gazetteer::{Near, gazetteer};
use crate::access::preference::ConsoleLanguage;
use crate::accounts::country::name_in;
use crate::locations::location::{Latitude, Longitude};
use crate::notifications::routing::Units;

/// Below this distance in metres, the name of the place is enough: its position is accurate to about 300 m, and towns
/// are large.
const AT_M: f64 = 1_500.0;
const MILE_M: f64 = 1_609.344;
const NAUTICAL_MILE_M: f64 = 1_852.0;

const ENGLISH_POINTS: [&str; 16] =
    ["N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE", "S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW"];
const SPANISH_POINTS: [&str; 16] =
    ["N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE", "S", "SSO", "SO", "OSO", "O", "ONO", "NO", "NNO"];

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
    let (distance, point) = (distance(near.metres, reader), point(near.bearing, reader.language));
    match reader.language {
        ConsoleLanguage::English => format!("{distance} {point} of {name}"),
        ConsoleLanguage::Spanish => format!("{distance} al {point} de {name}"),
    }
}

/// In whole units, since the positions of places are not accurate enough for more.
fn distance(metres: f64, Reader { language, units }: Reader) -> String {
    let (unit_m, unit) = match (units, language) {
        (Units::Metric, _) => (1_000.0, "km"),
        (Units::Imperial, _) => (MILE_M, "mi"),
        (Units::Nautical, ConsoleLanguage::English) => (NAUTICAL_MILE_M, "nmi"),
        (Units::Nautical, ConsoleLanguage::Spanish) => (NAUTICAL_MILE_M, "mn"),
    };
    let whole = format!("{:.0}", metres / unit_m);
    // Half the circumference of the earth has five digits. Spanish does not separate the thousands of four digits.
    let split = whole.len().checked_sub(3).filter(|before| *before > 0);
    match (split.and_then(|before| whole.split_at_checked(before)), language) {
        (Some((thousands, rest)), ConsoleLanguage::English) => format!("{thousands},{rest} {unit}"),
        (Some((thousands, rest)), ConsoleLanguage::Spanish) if thousands.len() > 1 => {
            format!("{thousands}.{rest} {unit}")
        }
        _ => format!("{whole} {unit}"),
    }
}

/// The nearest of the sixteen points of the compass.
fn point(bearing: f64, language: ConsoleLanguage) -> &'static str {
    let points = match language {
        ConsoleLanguage::English => &ENGLISH_POINTS,
        ConsoleLanguage::Spanish => &SPANISH_POINTS,
    };
    // Each point stands for the 22.5 degrees around it.
    let from_first = (bearing + 11.25).rem_euclid(360.0);
    let index = (1_u8..16).take_while(|number| f64::from(*number) * 22.5 <= from_first).count();
    points.get(index).copied().unwrap_or("N")
}
