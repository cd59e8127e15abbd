//! KML 2.3: a placemark for each location, with its time and everything else as extended data.
//!
//! A KML `Track` cannot be streamed, because it lists all times before the first position.

use perigee_core::locations::location::StoredLocation;
use perigee_core::locations::place::Reader;

use super::field::{Datum, Field, Selection, Visitor, push_coordinates, visit_fields};
use super::gpx::push_xml_datum;
use super::text::push_xml_text;
use super::writer::Writer;
use crate::http::place::place_of;

const OPENING: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <kml xmlns=\"http://www.opengis.net/kml/2.3\" version=\"2.3\">\n<Document><name>";
/// The fields with a KML element.
const NATIVE: [Field; 4] = [Field::DateTime, Field::Latitude, Field::Longitude, Field::Altitude];
const EXTENDED: Selection = Selection::ALL.without(&NATIVE);

/// A document of placemarks.
#[derive(Debug)]
pub(super) struct Kml {
    title: String,
    place: Option<Reader>,
    scratch: Vec<u8>,
}

impl Kml {
    pub(super) fn new(title: String, place: Option<Reader>) -> Self {
        Self { title, place, scratch: Vec::new() }
    }
}

struct Data<'o> {
    out: &'o mut Vec<u8>,
    scratch: &'o mut Vec<u8>,
}

impl Visitor for Data<'_> {
    fn field(&mut self, field: Field, datum: Option<Datum<'_>>) {
        let Some(datum) = datum else { return };
        self.out.extend_from_slice(b"<Data name=\"");
        self.out.extend_from_slice(field.name().as_bytes());
        self.out.extend_from_slice(b"\"><value>");
        push_xml_datum(self.out, self.scratch, datum);
        self.out.extend_from_slice(b"</value></Data>");
    }
}

impl Writer for Kml {
    fn open(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(OPENING.as_bytes());
        push_xml_text(out, &self.title);
        out.extend_from_slice(b"</name>\n");
    }

    fn write(&mut self, out: &mut Vec<u8>, stored: &StoredLocation) {
        let location = &stored.location;
        out.extend_from_slice(b"<Placemark>");
        if let Some(place) = place_of(self.place, location.latitude, location.longitude) {
            out.extend_from_slice(b"<description>");
            push_xml_text(out, &place);
            out.extend_from_slice(b"</description>");
        }
        out.extend_from_slice(b"<TimeStamp><when>");
        Datum::Time(location.time).push_plain(out);
        out.extend_from_slice(b"</when></TimeStamp><ExtendedData>");
        visit_fields(stored, EXTENDED, &mut Data { out, scratch: &mut self.scratch });
        out.extend_from_slice(b"</ExtendedData><Point>");
        if location.readings.altitude.is_some() {
            out.extend_from_slice(b"<altitudeMode>absolute</altitudeMode>");
        }
        out.extend_from_slice(b"<coordinates>");
        push_coordinates(out, location);
        out.extend_from_slice(b"</coordinates></Point></Placemark>\n");
    }

    fn close(&mut self, out: &mut Vec<u8>, _next_cursor: Option<&str>) {
        out.extend_from_slice(b"</Document>\n</kml>\n");
    }
}
