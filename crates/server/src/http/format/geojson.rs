//! GeoJSON (RFC 7946): a collection of points with everything else in their properties.

use perigee_core::locations::location::StoredLocation;
use perigee_core::locations::place::Reader;

use super::field::{Field, Selection, push_coordinates};
use super::json::{open_envelope, push_next_cursor, write_described_location};
use super::writer::Writer;
use crate::http::reply::Envelope;

/// The fields in `properties`: all but the coordinates, and the altitude again, because many tools drop it from
/// coordinates.
const PROPERTIES: Selection = Selection::ALL.without(&[Field::Latitude, Field::Longitude]);

/// A feature collection. The envelope's members are foreign members (RFC 7946), which readers ignore.
#[derive(Debug)]
pub(super) struct GeoJson {
    pub(super) envelope: Envelope,
    pub(super) place: Option<Reader>,
    pub(super) begun: bool,
}

impl Writer for GeoJson {
    fn open(&mut self, out: &mut Vec<u8>) {
        open_envelope(out, self.envelope);
        out.extend_from_slice(b",\"type\":\"FeatureCollection\",\"features\":[");
    }

    fn write(&mut self, out: &mut Vec<u8>, stored: &StoredLocation) {
        if self.begun {
            out.push(b',');
        }
        self.begun = true;
        let location = &stored.location;
        out.extend_from_slice(b"{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[");
        push_coordinates(out, location);
        out.extend_from_slice(b"]},\"properties\":");
        write_described_location(out, None, stored, PROPERTIES, self.place);
        out.push(b'}');
    }

    fn close(&mut self, out: &mut Vec<u8>, next_cursor: Option<&str>) {
        out.push(b']');
        push_next_cursor(out, next_cursor);
        out.push(b'}');
    }
}
