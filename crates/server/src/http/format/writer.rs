//! What every format is behind: a document that is opened, gets its locations one by one, and is closed.

use std::fmt;

use perigee_core::location::StoredLocation;

use super::choice::Format;
use super::csv::Csv;
use super::field::Selection;
use super::geojson::GeoJson;
use super::gpx::Gpx;
use super::json::{Json, Lines};
use super::kml::Kml;
use crate::http::reply::Envelope;

/// Writes a document of locations, holding none of them.
pub trait Writer: Send + fmt::Debug {
    /// Writes what comes before the first location.
    fn open(&mut self, out: &mut Vec<u8>);

    /// Writes a location.
    fn write(&mut self, out: &mut Vec<u8>, stored: &StoredLocation);

    /// Writes what comes after the last one, and where to go on in a format that has a place for it.
    fn close(&mut self, out: &mut Vec<u8>, next_cursor: Option<&str>);
}

/// What a document says beside its locations.
#[derive(Debug)]
pub struct Heading {
    /// The beginning of an answer that is a JSON object.
    pub envelope: Envelope,
    /// Further members of such an answer, each after a comma.
    pub before: Vec<u8>,
    /// What the track is called.
    pub title: String,
    /// The fields to write, in formats that leave the choice.
    pub selection: Selection,
}

impl Format {
    /// Begins a document.
    pub fn writer(self, heading: Heading) -> Box<dyn Writer> {
        let Heading { envelope, before, title, selection } = heading;
        match self {
            Self::Json => Box::new(Json { envelope, before, selection, begun: false }),
            Self::NdJson => Box::new(Lines { selection }),
            Self::GeoJson => Box::new(GeoJson { envelope, begun: false }),
            Self::Csv => Box::new(Csv::new(selection)),
            Self::Gpx => Box::new(Gpx::new(title)),
            Self::Kml => Box::new(Kml::new(title)),
        }
    }
}
