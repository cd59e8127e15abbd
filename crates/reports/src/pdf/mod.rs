//! PDF: pages of A4 with the totals, a chart, a map of the trips, and the table of rows.
//!
//! Rows are kept as texts until the end, because each page says how many there are. The documents are tagged: headings,
//! tables with titles of columns, and figures with a description.

mod canvas;
mod chart;
mod export;
mod face;
mod map;
mod table;
#[cfg(test)]
mod tests;

use std::io::Write;

use krilla::configure::Configuration;
use perigee_core::timeline::Position;

use crate::cell::{Cell, clock, local};
use crate::column::{Column, ColumnType};
use crate::heading::Heading;
use crate::rows::Row;
use crate::summary::Summary;
use crate::words::{Word, word};
use crate::writer::{WriteError, Writer};
use canvas::{Canvas, Ink, LEFT, Structure, WIDTH};
use face::Faces;
use table::{Align, Table};

/// Rows of a document.
const ROWS_MAX: usize = 5_000;
/// Lines of a map.
const LEGS_MAX: usize = 2_000;

#[derive(Debug)]
pub(crate) struct Pdf {
    heading: Heading,
    summary: Summary,
    rows: Vec<Vec<String>>,
    legs: Vec<(Position, Position)>,
}

impl Pdf {
    pub(crate) fn open(heading: Heading) -> Self {
        let summary = Summary::new(&heading.columns);
        Self { heading, summary, rows: Vec::new(), legs: Vec::new() }
    }

    fn text(&self, cell: &Cell, column: Column) -> String {
        text(&self.heading, cell, column)
    }

    fn draw(&self, faces: &Faces) -> Canvas {
        let heading = &self.heading;
        let language = heading.language;
        let mut canvas = Canvas::new();
        canvas.line(&heading.title, (&faces.bold, 18.0), Ink::Black, Some(Structure::Title));
        canvas.space(4.0);
        let period = format!("{} – {}", shown(heading, heading.from), shown(heading, heading.to));
        let created = shown(heading, heading.created);
        let lines = [
            (Word::Account, heading.account.as_str()),
            (Word::Period, period.as_str()),
            (Word::TimeZone, heading.zone.id()),
            (Word::Created, created.as_str()),
        ];
        for (name, fact) in lines {
            let line = format!("{}: {fact}", word(name, language));
            canvas.line(
                &faces.regular.fitted(&line, 9.0, WIDTH),
                (&faces.regular, 9.0),
                Ink::Grey,
                Some(Structure::Text),
            );
        }
        canvas.space(10.0);
        let mut top = canvas.y();
        let chart = chart::bars(&self.summary, heading, faces, (LEFT, top));
        let map = map::legs(&self.legs, language, faces, (LEFT + WIDTH / 2.0 + 8.0, top));
        for (figure, height) in [chart, map].into_iter().flatten() {
            top = top.max(canvas.y() + height);
            canvas.figure(figure);
        }
        let drawn = top - canvas.y();
        if drawn > 0.0 {
            canvas.space(drawn + 12.0);
        }
        self.totals().draw(&mut canvas, faces);
        canvas.space(14.0);
        let columns = heading.columns.iter().map(|column| {
            let align = if column.kind() == ColumnType::Text { Align::Left } else { Align::Right };
            (column.title_with_unit(language, heading.units), column.width(), align)
        });
        let title = heading.kind.title(language).to_owned();
        let table = Table { title, columns: columns.collect(), rows: &self.rows, is_last_bold: false };
        table.draw(&mut canvas, faces);
        canvas
    }

    /// The whole document. A configuration can demand that it obeys a standard.
    fn export(&self, configuration: Configuration) -> Result<Vec<u8>, WriteError> {
        let faces = Faces::load().ok_or(WriteError::Font)?;
        export::export(&self.draw(&faces), &self.heading, &faces, configuration)
    }

    fn totals(&self) -> Table<Vec<Vec<String>>> {
        let language = self.heading.language;
        let summed: Vec<(usize, Column)> = self
            .heading
            .columns
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, column)| column.is_summed())
            .collect();
        let mut columns =
            vec![(String::new(), 24, Align::Left), (word(Word::Rows, language).to_owned(), 7, Align::Right)];
        columns.extend(summed.iter().map(|(_, column)| {
            (column.title_with_unit(language, self.heading.units), column.width(), Align::Right)
        }));
        let rows = self.summary.lines().map(|(subject, line)| {
            let name = subject.map_or(word(Word::Total, language), |subject| subject.name.as_str());
            let sums = summed.iter().map(|(at, column)| {
                line.cells.get(*at).map(|cell| self.text(cell, *column)).unwrap_or_default()
            });
            [name.to_owned(), line.rows.to_string()].into_iter().chain(sums).collect()
        });
        let title = word(Word::Totals, language).to_owned();
        Table { title, columns, rows: rows.collect(), is_last_bold: true }
    }
}

/// A sheet of short tables.
pub(crate) fn sheet(heading: &Heading, sheet: &crate::sheet::Sheet) -> Result<Vec<u8>, WriteError> {
    let faces = Faces::load().ok_or(WriteError::Font)?;
    let mut canvas = Canvas::new();
    canvas.line(&sheet.title, (&faces.bold, 18.0), Ink::Black, Some(Structure::Title));
    canvas.space(4.0);
    for line in &sheet.lines {
        for line in faces.regular.wrapped(line, 9.0, WIDTH, 20) {
            canvas.line(&line, (&faces.regular, 9.0), Ink::Black, Some(Structure::Text));
        }
    }
    for shown in sheet.tables.iter().filter(|table| !table.rows.is_empty()) {
        canvas.space(10.0);
        let columns = shown.columns.iter().map(|(title, width)| (title.clone(), *width, Align::Left));
        let table = Table {
            title: shown.title.clone(),
            columns: columns.collect(),
            rows: &shown.rows,
            is_last_bold: false,
        };
        table.draw(&mut canvas, &faces);
    }
    export::export(&canvas, heading, &faces, Configuration::default())
}

fn shown(heading: &Heading, at: perigee_core::time::Timestamp) -> String {
    local(at, &heading.zone).strftime("%Y-%m-%d %H:%M").to_string()
}

fn text(heading: &Heading, cell: &Cell, column: Column) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => text.clone(),
        Cell::Instant(at) if column.kind() == ColumnType::Date => {
            local(*at, &heading.zone).date().to_string()
        }
        Cell::Instant(at) => shown(heading, *at),
        Cell::Duration(seconds) => clock(*seconds),
        Cell::Count(count) => count.to_string(),
        number => {
            let decimals = if matches!(column.unit(heading.units), Some("°")) { 5 } else { 1 };
            number.number(heading.units).map(|number| format!("{number:.decimals$}")).unwrap_or_default()
        }
    }
}

impl Writer for Pdf {
    fn add(&mut self, rows: &[Row]) -> Result<(), WriteError> {
        if self.rows.len() + rows.len() > ROWS_MAX {
            return Err(WriteError::TooManyRows(ROWS_MAX.try_into().unwrap_or(u64::MAX)));
        }
        for row in rows {
            self.summary.add(row);
            let columns = self.heading.columns.iter().zip(&row.cells);
            let texts = columns.map(|(column, cell)| self.text(cell, *column)).collect();
            self.rows.push(texts);
            self.legs.extend(row.leg.filter(|_| self.legs.len() < LEGS_MAX));
        }
        Ok(())
    }

    fn take(&mut self) -> Vec<u8> {
        Vec::new()
    }

    fn finish(self: Box<Self>, out: &mut (dyn Write + Send)) -> Result<(), WriteError> {
        Ok(out.write_all(&self.export(Configuration::default())?)?)
    }
}
