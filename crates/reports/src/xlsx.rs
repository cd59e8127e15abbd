//! XLSX: a sheet of rows, which is written to a temporary file row by row, and a sheet of totals.

use std::io::Write;

use jiff::civil;
use rust_xlsxwriter::{DocProperties, Format, FormatAlign, FormatBorder, Workbook, Worksheet};

use crate::cell::{Cell, local};
use crate::column::{Column, ColumnType};
use crate::heading::Heading;
use crate::rows::Row;
use crate::summary::Summary;
use crate::words::{Word, word};
use crate::writer::{WriteError, Writer};

/// Rows of a workbook. Spreadsheet programs open 1,048,576; this bounds the temporary file.
const ROWS_MAX: u32 = 250_000;
/// Characters that a cell may have.
const CHARS_MAX: usize = 32_767;
/// The first date of the calendar of spreadsheet programs for which the number of days is right.
const FIRST_DATE: civil::Date = civil::Date::constant(1900, 3, 1);
/// The date with the number 0.
const DATE_0: civil::Date = civil::Date::constant(1899, 12, 30);
const DAY_S: f64 = 86_400.0;

pub(crate) struct Xlsx {
    heading: Heading,
    summary: Summary,
    workbook: Workbook,
    styles: Styles,
    /// The next row of the first sheet.
    row: u32,
}

impl std::fmt::Debug for Xlsx {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Xlsx").field("row", &self.row).finish_non_exhaustive()
    }
}

struct Styles {
    title: Format,
    text: Format,
    date_time: Format,
    date: Format,
    duration: Format,
    decimal: Format,
    degrees: Format,
    cost: Format,
    count: Format,
}

impl Styles {
    fn new() -> Self {
        let number = |pattern: &str| Format::new().set_num_format(pattern).set_align(FormatAlign::Right);
        Self {
            title: Format::new().set_bold().set_text_wrap().set_border_bottom(FormatBorder::Thin),
            text: Format::new(),
            date_time: number("yyyy-mm-dd hh:mm:ss"),
            date: number("yyyy-mm-dd"),
            duration: number("[h]:mm:ss"),
            decimal: number("#,##0.0"),
            degrees: number("0.00000"),
            cost: number("#,##0.00##"),
            count: number("#,##0"),
        }
    }

    const fn of(&self, column: Column) -> &Format {
        match column.kind() {
            ColumnType::Text => &self.text,
            ColumnType::DateTime => &self.date_time,
            ColumnType::Date => &self.date,
            ColumnType::Duration => &self.duration,
            ColumnType::Distance | ColumnType::Speed => &self.decimal,
            ColumnType::Number if matches!(column, Column::FuelUsed | Column::Battery) => &self.decimal,
            ColumnType::Number if matches!(column, Column::Cost) => &self.cost,
            ColumnType::Number => &self.degrees,
            ColumnType::Count => &self.count,
        }
    }
}

impl Xlsx {
    pub(crate) fn open(heading: Heading) -> Result<Self, WriteError> {
        let (mut workbook, styles) = (Workbook::new(), Styles::new());
        let created = heading.created.to_jiff().as_second();
        let properties = DocProperties::new().set_title(&heading.title).set_author(&heading.account);
        let properties = match rust_xlsxwriter::ExcelDateTime::from_timestamp(created) {
            Ok(created) => properties.set_creation_datetime(&created),
            Err(_before_1900) => properties,
        };
        workbook.set_properties(&properties);
        let sheet = workbook.add_worksheet_with_constant_memory()?;
        sheet.set_name(sheet_name(heading.kind.title(heading.language)))?;
        prepare(sheet, &heading, 0)?;
        for (at, column) in (0..).zip(&heading.columns) {
            let title = column.title_with_unit(heading.language, heading.units);
            sheet.write_string_with_format(0, at, title, &styles.title)?;
        }
        Ok(Self { summary: Summary::new(&heading.columns), heading, workbook, styles, row: 1 })
    }

    /// The second sheet: the period and the sums.
    fn write_totals(&mut self) -> Result<(), WriteError> {
        let Self { heading, summary, workbook, styles, .. } = self;
        let language = heading.language;
        let sheet = workbook.add_worksheet_with_constant_memory()?;
        let name = word(Word::Totals, language);
        let is_taken = heading.kind.title(language) == name;
        sheet.set_name(if is_taken { format!("{name} (2)") } else { name.to_owned() })?;
        sheet.set_column_width(0, 26)?;
        let zone = heading.zone.id();
        let facts = [
            (Word::Account, heading.account.clone()),
            (Word::Period, format!("{} – {}", shown(heading, heading.from), shown(heading, heading.to))),
            (Word::TimeZone, zone.to_owned()),
            (Word::Created, shown(heading, heading.created)),
        ];
        sheet.write_string_with_format(0, 0, &heading.title, &styles.title)?;
        let mut row = 1;
        for (name, text) in facts {
            sheet.write_string(row, 0, word(name, language))?;
            sheet.write_string(row, 1, text)?;
            row += 1;
        }
        row += 1;
        let sums: Vec<(usize, Column)> =
            heading.columns.iter().copied().enumerate().filter(|(_, column)| column.is_summed()).collect();
        sheet.write_string_with_format(row, 1, word(Word::Rows, language), &styles.title)?;
        for (at, (_, column)) in (2..).zip(&sums) {
            sheet.set_column_width(at, column.width().max(12))?;
            let title = column.title_with_unit(language, heading.units);
            sheet.write_string_with_format(row, at, title, &styles.title)?;
        }
        for (subject, line) in summary.lines() {
            row += 1;
            let name = subject.map_or(word(Word::Total, language), |subject| subject.name.as_str());
            sheet.write_string(row, 0, short(name))?;
            write_cell(sheet, (row, 1), (&Cell::Count(line.rows), &styles.count), heading)?;
            for (at, (index, column)) in (2..).zip(&sums) {
                let cell = line.cells.get(*index).unwrap_or(&Cell::Empty);
                write_cell(sheet, (row, at), (cell, styles.of(*column)), heading)?;
            }
        }
        Ok(())
    }
}

/// Widths, the frozen line of titles, and how the sheet is printed.
fn prepare(sheet: &mut Worksheet, heading: &Heading, titles: u32) -> Result<(), WriteError> {
    for (at, column) in (0..).zip(&heading.columns) {
        sheet.set_column_width(at, column.width())?;
    }
    sheet.set_freeze_panes(titles + 1, 0)?;
    sheet.set_repeat_rows(titles, titles)?;
    sheet.set_landscape();
    sheet.set_print_fit_to_pages(1, 0);
    sheet.set_footer("&L&A&R&P / &N");
    Ok(())
}

fn shown(heading: &Heading, at: perigee_core::time::Timestamp) -> String {
    local(at, &heading.zone).strftime("%Y-%m-%d %H:%M").to_string()
}

/// A name that a sheet may have: at most 31 characters, without some.
fn sheet_name(text: &str) -> String {
    text.chars().filter(|letter| !"[]:*?/\\".contains(*letter)).take(31).collect()
}

fn short(text: &str) -> &str {
    text.char_indices().nth(CHARS_MAX).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

fn write_cell(
    sheet: &mut Worksheet,
    (row, column): (u32, u16),
    (cell, format): (&Cell, &Format),
    heading: &Heading,
) -> Result<(), WriteError> {
    match cell {
        Cell::Empty => {}
        // A string stays a string, also one that begins like a formula.
        Cell::Text(text) => {
            sheet.write_string(row, column, short(text))?;
        }
        Cell::Instant(at) => {
            let shown = local(*at, &heading.zone);
            match serial(shown) {
                Some(days) => sheet.write_number_with_format(row, column, days, format)?,
                None => sheet.write_string(row, column, shown.to_string())?,
            };
        }
        Cell::Duration(seconds) => {
            #[expect(clippy::cast_precision_loss, reason = "far below 2^53 seconds")]
            let days = *seconds as f64 / DAY_S;
            sheet.write_number_with_format(row, column, days, format)?;
        }
        number => {
            if let Some(number) = number.number(heading.units) {
                sheet.write_number_with_format(row, column, number, format)?;
            }
        }
    }
    Ok(())
}

/// The number of days by which spreadsheet programs count dates and times.
fn serial(shown: civil::DateTime) -> Option<f64> {
    if shown.date() < FIRST_DATE {
        return None;
    }
    let days = shown.date().since(DATE_0).ok()?.get_days();
    let time = shown.time();
    let seconds = i32::from(time.hour()) * 3_600 + i32::from(time.minute()) * 60 + i32::from(time.second());
    Some(f64::from(days) + f64::from(seconds) / DAY_S)
}

impl Writer for Xlsx {
    fn add(&mut self, rows: &[Row]) -> Result<(), WriteError> {
        let Self { heading, summary, workbook, styles, row: at } = self;
        let sheet = workbook.worksheet_from_index(0)?;
        for row in rows {
            if *at > ROWS_MAX {
                return Err(WriteError::TooManyRows(ROWS_MAX.into()));
            }
            summary.add(row);
            for ((column, cell), number) in heading.columns.iter().zip(&row.cells).zip(0..) {
                write_cell(sheet, (*at, number), (cell, styles.of(*column)), heading)?;
            }
            *at += 1;
        }
        Ok(())
    }

    fn take(&mut self) -> Vec<u8> {
        Vec::new()
    }

    fn finish(mut self: Box<Self>, out: &mut (dyn Write + Send)) -> Result<(), WriteError> {
        self.write_totals()?;
        Ok(self.workbook.save_to_writer(out)?)
    }
}
