//! The interface that every output format implements: open a document, write locations one by one, close it.

use std::fmt;

use perigee_core::locations::location::StoredLocation;
use perigee_core::locations::place::Reader;

use super::csv::Csv;
use super::field::Selection;
use super::geojson::GeoJson;
use super::gpx::Gpx;
use super::json::{Json, Lines};
use super::kml::Kml;
use super::negotiate::Format;
use crate::http::reply::Envelope;

/// Writes a document of locations to a buffer. It stores no location, so that a document can be streamed.
pub trait Writer: Send + fmt::Debug {
    /// Writes what comes before the first location.
    fn open(&mut self, out: &mut Vec<u8>);

    /// Writes one location, and the separator from the one before.
    fn write(&mut self, out: &mut Vec<u8>, stored: &StoredLocation);

    /// Writes what comes after the last location, and the next cursor in formats that have a member for it.
    fn close(&mut self, out: &mut Vec<u8>, next_cursor: Option<&str>);
}

/// The content of a document besides its locations. Each format uses the parts that it can represent.
#[derive(Debug)]
pub struct Heading {
    /// The envelope of a JSON answer.
    pub envelope: Envelope,
    /// Encoded members of a JSON answer that come before the locations, each with a comma before it.
    pub leading_members: Vec<u8>,
    /// The title of the track in GPX and KML.
    pub title: String,
    /// The fields to write, in formats with selectable fields.
    pub selection: Selection,
    /// Language and units of places; `None` to write no places.
    pub place: Option<Reader>,
}

impl Format {
    /// A writer for one document in this format.
    pub fn writer(self, heading: Heading) -> Box<dyn Writer> {
        let Heading { envelope, leading_members, title, selection, place } = heading;
        match self {
            Self::Json => Box::new(Json { envelope, leading_members, selection, place, begun: false }),
            Self::NdJson => Box::new(Lines { selection, place }),
            Self::GeoJson => Box::new(GeoJson { envelope, place, begun: false }),
            Self::Csv => Box::new(Csv::new(selection, place)),
            Self::Gpx => Box::new(Gpx::new(title, place)),
            Self::Kml => Box::new(Kml::new(title, place)),
        }
    }
}
