//! JSON as one answer, and NDJSON.

use perigee_core::id::DeviceId;
use perigee_core::locations::location::StoredLocation;
use perigee_core::locations::place::Reader;

use super::field::{Datum, Field, Selection, Visitor, key, visit_fields};
use super::text::push_json_text;
use super::writer::Writer;
use crate::http::place::place_of;
use crate::http::reply::Envelope;

struct Members<'o> {
    out: &'o mut Vec<u8>,
    /// Whether `milleage`, the original API's spelling, is written beside `mileage`: only if all fields are
    /// selected.
    both_spellings: bool,
}

impl Visitor for Members<'_> {
    #[expect(clippy::inline_always, reason = "a field's name and kind are known where this is compiled")]
    #[inline(always)]
    fn field(&mut self, field: Field, datum: Option<Datum<'_>>) {
        if let Some(datum) = datum {
            self.out.extend_from_slice(key(field));
            datum.push_json(self.out);
            if matches!(field, Field::Mileage) && self.both_spellings {
                self.out.extend_from_slice(b",\"milleage\":");
                datum.push_json(self.out);
            }
        }
    }
}

/// Writes a location as a JSON object, with its device's id first if one is given.
pub fn write_location(
    out: &mut Vec<u8>,
    device: Option<DeviceId>,
    stored: &StoredLocation,
    selection: Selection,
) {
    write_described_location(out, device, stored, selection, None);
}

/// The same, with the place as the last member if places are requested.
pub fn write_described_location(
    out: &mut Vec<u8>,
    device: Option<DeviceId>,
    stored: &StoredLocation,
    selection: Selection,
    reader: Option<Reader>,
) {
    let start = out.len();
    if let Some(device) = device {
        out.extend_from_slice(format!(",\"deviceId\":\"{device}\"").as_bytes());
    }
    let both_spellings = selection == Selection::ALL;
    visit_fields(stored, selection, &mut Members { out, both_spellings });
    if let Some(place) = place_of(reader, stored.location.latitude, stored.location.longitude) {
        out.extend_from_slice(b",\"place\":");
        push_json_text(out, &place);
    }
    // Every member was written with a comma before it; the first one's becomes the opening brace.
    match out.get_mut(start) {
        Some(comma) => *comma = b'{',
        None => out.push(b'{'),
    }
    out.push(b'}');
}

/// Writes the envelope of an answer without the closing brace.
pub fn open_envelope(out: &mut Vec<u8>, envelope: Envelope) {
    // Serialising plain members cannot fail.
    let envelope = serde_json::to_vec(&envelope).unwrap_or_default();
    out.extend_from_slice(envelope.strip_suffix(b"}").unwrap_or(&envelope));
}

/// Writes `nextCursor` as the last member of an answer.
pub fn push_next_cursor(out: &mut Vec<u8>, next_cursor: Option<&str>) {
    if let Some(cursor) = next_cursor {
        out.extend_from_slice(format!(",\"nextCursor\":\"{cursor}\"").as_bytes());
    }
}

/// One JSON object: the envelope and the locations.
#[derive(Debug)]
pub(super) struct Json {
    pub(super) envelope: Envelope,
    /// Encoded members before the locations, each with a comma before it.
    pub(super) leading_members: Vec<u8>,
    pub(super) selection: Selection,
    pub(super) place: Option<Reader>,
    pub(super) begun: bool,
}

impl Writer for Json {
    fn open(&mut self, out: &mut Vec<u8>) {
        open_envelope(out, self.envelope);
        out.extend_from_slice(&self.leading_members);
        out.extend_from_slice(b",\"locations\":[");
    }

    fn write(&mut self, out: &mut Vec<u8>, stored: &StoredLocation) {
        if self.begun {
            out.push(b',');
        }
        self.begun = true;
        write_described_location(out, None, stored, self.selection, self.place);
    }

    fn close(&mut self, out: &mut Vec<u8>, next_cursor: Option<&str>) {
        out.push(b']');
        push_next_cursor(out, next_cursor);
        out.push(b'}');
    }
}

/// NDJSON: one JSON object a line.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) selection: Selection,
    pub(super) place: Option<Reader>,
}

impl Writer for Lines {
    fn open(&mut self, _out: &mut Vec<u8>) {}

    fn write(&mut self, out: &mut Vec<u8>, stored: &StoredLocation) {
        write_described_location(out, None, stored, self.selection, self.place);
        out.push(b'\n');
    }

    fn close(&mut self, _out: &mut Vec<u8>, _next_cursor: Option<&str>) {}
}
