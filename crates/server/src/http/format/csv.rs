//! CSV (RFC 4180): a header, then a line for each location.
//!
//! Spreadsheets treat a cell that begins with `=`, `+`, `-` or `@` as a formula. No cell begins with text from a
//! sender: texts are in lists and maps, which are written as JSON and begin with a bracket. A cell that begins with a
//! minus is a number. A place begins with a distance or with a name of the gazetteer.

use perigee_core::locations::location::StoredLocation;
use perigee_core::locations::place::Reader;

use super::field::{Datum, Field, Selection, Visitor, visit_fields};
use super::text::push_quoted_cell;
use super::writer::Writer;
use crate::http::place::place_of;

/// The column of places.
const PLACE: &str = "place";

/// A table with a column for each field.
#[derive(Debug)]
pub(super) struct Csv {
    selection: Selection,
    place: Option<Reader>,
    scratch: Vec<u8>,
}

struct Cells<'o> {
    out: &'o mut Vec<u8>,
    scratch: &'o mut Vec<u8>,
    begun: bool,
}

impl Csv {
    pub(super) fn new(selection: Selection, place: Option<Reader>) -> Self {
        Self { selection, place, scratch: Vec::new() }
    }
}

impl Visitor for Cells<'_> {
    fn field(&mut self, _field: Field, datum: Option<Datum<'_>>) {
        if self.begun {
            self.out.push(b',');
        }
        self.begun = true;
        let Some(datum) = datum else { return };
        if !datum.push_plain(self.out) {
            self.scratch.clear();
            datum.push_json(self.scratch);
            push_quoted_cell(self.out, self.scratch);
        }
    }
}

impl Writer for Csv {
    fn open(&mut self, out: &mut Vec<u8>) {
        let chosen = Field::ALL.iter().filter(|field| self.selection.has(**field));
        let place = self.place.map(|_| PLACE);
        let names: Vec<&str> = chosen.map(|field| field.name()).chain(place).collect();
        out.extend_from_slice(names.join(",").as_bytes());
        out.extend_from_slice(b"\r\n");
    }

    fn write(&mut self, out: &mut Vec<u8>, stored: &StoredLocation) {
        let mut cells = Cells { out, scratch: &mut self.scratch, begun: false };
        visit_fields(stored, self.selection, &mut cells);
        if self.place.is_some() {
            let place = place_of(self.place, stored.location.latitude, stored.location.longitude);
            if cells.begun {
                out.push(b',');
            }
            push_quoted_cell(out, place.unwrap_or_default().as_bytes());
        }
        out.extend_from_slice(b"\r\n");
    }

    fn close(&mut self, _out: &mut Vec<u8>, _next_cursor: Option<&str>) {}
}
