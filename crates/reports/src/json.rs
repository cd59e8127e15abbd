//! JSON and NDJSON: rows as objects.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::cell::{Cell, local};
use crate::column::{Column, ColumnType};
use crate::heading::Heading;
use crate::rows::{Row, Subject};
use crate::summary::{Line, Summary};
use crate::writer::{WriteError, Writer};

/// One object with the rows in `rows`.
#[derive(Debug)]
pub(crate) struct Json {
    heading: Heading,
    summary: Summary,
    bytes: Vec<u8>,
    has_rows: bool,
}

/// An object in each line.
#[derive(Debug)]
pub(crate) struct Lines {
    heading: Heading,
    bytes: Vec<u8>,
}

impl Json {
    pub(crate) fn open(heading: Heading) -> Self {
        let mut bytes = b"{".to_vec();
        if !heading.envelope.is_empty() {
            bytes.extend_from_slice(&heading.envelope);
            bytes.push(b',');
        }
        let Heading { kind, title, from, to, zone, language, units, columns, .. } = &heading;
        let column = |column: &Column| {
            json!({
                "id": column.name(), "title": column.title(*language), "type": column.kind().name(),
                "unit": column.unit(*units),
            })
        };
        let members = json!({
            "kind": kind.name(), "title": title, "from": from.to_string(), "to": to.to_string(), "timeZone": zone.id(),
            "language": language.name(), "units": units.name(),
            "columns": columns.iter().map(column).collect::<Vec<_>>(),
        });
        let members = members.to_string();
        bytes.extend_from_slice(members.trim_start_matches('{').trim_end_matches('}').as_bytes());
        bytes.extend_from_slice(b",\"rows\":[");
        Self { summary: Summary::new(&heading.columns), heading, bytes, has_rows: false }
    }
}

fn value(heading: &Heading, column: Column, cell: &Cell) -> Value {
    match cell {
        Cell::Empty => Value::Null,
        Cell::Text(text) => Value::from(text.as_str()),
        Cell::Instant(at) if column.kind() == ColumnType::Date => {
            Value::from(local(*at, &heading.zone).date().to_string())
        }
        Cell::Instant(at) => Value::from(at.to_string()),
        Cell::Duration(count) | Cell::Count(count) => Value::from(*count),
        number => number.number(heading.units).map_or(Value::Null, Value::from),
    }
}

fn object(heading: &Heading, row: &Row) -> Value {
    let columns = heading.columns.iter().zip(&row.cells);
    let members = columns.map(|(column, cell)| (column.name().to_owned(), value(heading, *column, cell)));
    Value::Object(members.collect())
}

fn sums(heading: &Heading, subject: Option<&Subject>, line: &Line) -> Value {
    let known = |text: &str| if text.is_empty() { Value::Null } else { Value::from(text) };
    let mut members = Map::new();
    members.insert("id".to_owned(), subject.map_or(Value::Null, |subject| known(&subject.id)));
    members.insert("name".to_owned(), subject.map_or(Value::Null, |subject| known(&subject.name)));
    members.insert("rows".to_owned(), Value::from(line.rows));
    for (column, cell) in heading.columns.iter().zip(&line.cells).filter(|(column, _)| column.is_summed()) {
        members.insert(column.name().to_owned(), value(heading, *column, cell));
    }
    Value::Object(members)
}

impl Writer for Json {
    fn add(&mut self, rows: &[Row]) -> Result<(), WriteError> {
        for row in rows {
            self.summary.add(row);
            if std::mem::replace(&mut self.has_rows, true) {
                self.bytes.push(b',');
            }
            self.bytes.extend_from_slice(object(&self.heading, row).to_string().as_bytes());
        }
        Ok(())
    }

    fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    fn finish(mut self: Box<Self>, out: &mut (dyn Write + Send)) -> Result<(), WriteError> {
        let lines = self.summary.lines().map(|(subject, line)| sums(&self.heading, subject, line));
        let lines = Value::Array(lines.collect()).to_string();
        self.bytes.extend_from_slice(b"],\"totals\":");
        self.bytes.extend_from_slice(lines.as_bytes());
        self.bytes.push(b'}');
        Ok(out.write_all(&self.bytes)?)
    }
}

impl Lines {
    pub(crate) const fn open(heading: Heading) -> Self {
        Self { heading, bytes: Vec::new() }
    }
}

impl Writer for Lines {
    fn add(&mut self, rows: &[Row]) -> Result<(), WriteError> {
        for row in rows {
            self.bytes.extend_from_slice(object(&self.heading, row).to_string().as_bytes());
            self.bytes.push(b'\n');
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
