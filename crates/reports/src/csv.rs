//! CSV: a line of titles, then a line for each row.

use std::io::Write;

use crate::cell::{Cell, clock, local, with_offset};
use crate::column::ColumnType;
use crate::heading::Heading;
use crate::rows::Row;
use crate::writer::{WriteError, Writer};

#[derive(Debug)]
pub(crate) struct Csv {
    heading: Heading,
    bytes: Vec<u8>,
}

impl Csv {
    pub(crate) fn open(heading: Heading) -> Self {
        let mut csv = Self { heading, bytes: Vec::new() };
        let Heading { language, units, columns, .. } = &csv.heading;
        let titles: Vec<String> =
            columns.iter().map(|column| column.title_with_unit(*language, *units)).collect();
        csv.line(titles.iter().map(String::as_str));
        csv
    }

    fn line<'a>(&mut self, texts: impl Iterator<Item = &'a str>) {
        for (at, text) in texts.enumerate() {
            if at > 0 {
                self.bytes.push(b',');
            }
            push_text(&mut self.bytes, text);
        }
        self.bytes.extend_from_slice(b"\r\n");
    }

    fn text(&self, cell: &Cell, kind: ColumnType) -> String {
        let zone = &self.heading.zone;
        match cell {
            Cell::Empty => String::new(),
            Cell::Text(text) => harmless(text),
            Cell::Instant(at) if kind == ColumnType::Date => local(*at, zone).date().to_string(),
            Cell::Instant(at) => with_offset(*at, zone),
            Cell::Duration(seconds) => clock(*seconds),
            number => number.number(self.heading.units).map(|number| number.to_string()).unwrap_or_default(),
        }
    }
}

/// A text that no spreadsheet program takes as a formula.
fn harmless(text: &str) -> String {
    let is_formula = text
        .starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}']);
    if is_formula { format!("'{text}") } else { text.to_owned() }
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    if !text.contains([',', '"', '\r', '\n', ';', '\t']) && text.trim() == text {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.push(b'"');
    out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}

impl Writer for Csv {
    fn add(&mut self, rows: &[Row]) -> Result<(), WriteError> {
        for row in rows {
            let columns = self.heading.columns.iter().zip(&row.cells);
            let texts: Vec<String> = columns.map(|(column, cell)| self.text(cell, column.kind())).collect();
            self.line(texts.iter().map(String::as_str));
        }
        Ok(())
    }

    fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    fn finish(self: Box<Self>, out: &mut (dyn Write + Send)) -> Result<(), WriteError> {
        Ok(out.write_all(&self.bytes)?)
    }
}
