//! GPX 1.1: one track of one segment. Fields without a GPX element are in the `extensions` of a point.

use perigee_core::locations::location::StoredLocation;
use perigee_core::locations::place::Reader;

use super::field::{Datum, Field, Selection, Visitor, visit_fields};
use super::text::push_xml_text;
use super::writer::Writer;
use crate::http::place::place_of;

const OPENING: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <gpx version=\"1.1\" creator=\"Perigee\" xmlns=\"http://www.topografix.com/GPX/1/1\" \
    xmlns:perigee=\"urn:perigee:location:1\">\n<trk><name>";
/// The fields with a GPX element.
const NATIVE: [Field; 6] =
    [Field::DateTime, Field::Latitude, Field::Longitude, Field::Altitude, Field::Satellites, Field::Hdop];
const EXTENSIONS: Selection = Selection::ALL.without(&NATIVE);

/// A GPX document with one track.
#[derive(Debug)]
pub(super) struct Gpx {
    title: String,
    place: Option<Reader>,
    scratch: Vec<u8>,
}

impl Gpx {
    pub(super) fn new(title: String, place: Option<Reader>) -> Self {
        Self { title, place, scratch: Vec::new() }
    }
}

struct Elements<'o> {
    out: &'o mut Vec<u8>,
    scratch: &'o mut Vec<u8>,
}

impl Visitor for Elements<'_> {
    /// Lists and maps are written as JSON, which can hold any text.
    fn field(&mut self, field: Field, datum: Option<Datum<'_>>) {
        let Some(datum) = datum else { return };
        self.out.extend_from_slice(b"<perigee:");
        self.out.extend_from_slice(field.name().as_bytes());
        self.out.push(b'>');
        push_xml_datum(self.out, self.scratch, datum);
        self.out.extend_from_slice(b"</perigee:");
        self.out.extend_from_slice(field.name().as_bytes());
        self.out.push(b'>');
    }
}

/// Writes a value between tags: lists and maps as JSON, escaped.
pub(super) fn push_xml_datum(out: &mut Vec<u8>, scratch: &mut Vec<u8>, datum: Datum<'_>) {
    if !datum.push_plain(out) {
        scratch.clear();
        datum.push_json(scratch);
        push_xml_text(out, std::str::from_utf8(scratch).unwrap_or_default());
    }
}

/// Writes a GPX element, if there is a value.
fn push_element(out: &mut Vec<u8>, name: &str, datum: Option<Datum<'_>>) {
    let Some(datum) = datum else { return };
    out.push(b'<');
    out.extend_from_slice(name.as_bytes());
    out.push(b'>');
    datum.push_plain(out);
    out.extend_from_slice(b"</");
    out.extend_from_slice(name.as_bytes());
    out.push(b'>');
}

impl Writer for Gpx {
    fn open(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(OPENING.as_bytes());
        push_xml_text(out, &self.title);
        out.extend_from_slice(b"</name><trkseg>\n");
    }

    fn write(&mut self, out: &mut Vec<u8>, stored: &StoredLocation) {
        let location = &stored.location;
        out.extend_from_slice(b"<trkpt lat=\"");
        Datum::Degrees(location.latitude.as_e7()).push_plain(out);
        out.extend_from_slice(b"\" lon=\"");
        Datum::Degrees(location.longitude.as_e7()).push_plain(out);
        out.extend_from_slice(b"\">");
        // The schema prescribes this order.
        push_element(out, "ele", location.readings.altitude.map(Datum::Thousandths));
        push_element(out, "time", Some(Datum::Time(location.time)));
        if let Some(place) = place_of(self.place, location.latitude, location.longitude) {
            out.extend_from_slice(b"<desc>");
            push_xml_text(out, &place);
            out.extend_from_slice(b"</desc>");
        }
        push_element(out, "sat", location.readings.satellites.map(Datum::Count));
        push_element(out, "hdop", location.readings.hdop.map(Datum::Thousandths));
        out.extend_from_slice(b"<extensions>");
        visit_fields(stored, EXTENSIONS, &mut Elements { out, scratch: &mut self.scratch });
        out.extend_from_slice(b"</extensions></trkpt>\n");
    }

    fn close(&mut self, out: &mut Vec<u8>, _next_cursor: Option<&str>) {
        out.extend_from_slice(b"</trkseg></trk>\n</gpx>\n");
    }
}
