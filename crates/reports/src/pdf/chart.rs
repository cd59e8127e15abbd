//! A chart of bars: one for each device or group.

use super::canvas::{Figure, Ink, Mark, WIDTH};
use super::face::Faces;
use super::text;
use crate::cell::Cell;
use crate::column::{Column, ColumnType};
use crate::heading::Heading;
use crate::kind::ReportKind;
use crate::summary::Summary;

/// Bars of a chart.
const BARS: usize = 12;
const BAR: f32 = 13.0;
const NAME: f32 = 110.0;
const VALUE: f32 = 50.0;

/// A chart with its height; none if there is nothing to compare.
pub(super) fn bars(
    summary: &Summary,
    heading: &Heading,
    faces: &Faces,
    (left, top): (f32, f32),
) -> Option<(Figure, f32)> {
    let of_kind =
        |kind| heading.columns.iter().position(|column| column.kind() == kind && column.is_summed());
    // Of visits, the time counts rather than the way within the geofence.
    let at = match heading.kind {
        ReportKind::Visits => of_kind(ColumnType::Duration).or_else(|| of_kind(ColumnType::Distance)),
        _ => of_kind(ColumnType::Distance).or_else(|| of_kind(ColumnType::Duration)),
    }?;
    let column: Column = *heading.columns.get(at)?;
    let mut lines: Vec<(&str, &Cell)> = summary
        .lines()
        .filter_map(|(subject, line)| Some((subject?.name.as_str(), line.cells.get(at)?)))
        .collect();
    let number = |cell: &Cell| cell.number(heading.units).unwrap_or_default();
    lines.sort_by(|a, b| number(b.1).total_cmp(&number(a.1)));
    lines.truncate(BARS);
    let most = lines.first().map(|(_, cell)| number(cell)).filter(|most| *most > 0.0)?;
    let title = column.title_with_unit(heading.language, heading.units);
    let mut marks = vec![Mark::Text {
        at: (left, top + 9.0),
        text: title.clone(),
        size: 9.0,
        is_bold: true,
        ink: Ink::Black,
    }];
    let room = WIDTH / 2.0 - NAME - VALUE - 8.0;
    let (mut y, mut said) = (top + 18.0, Vec::new());
    for (name, cell) in &lines {
        let shown = text(heading, cell, column);
        #[expect(clippy::cast_possible_truncation, reason = "a share of a width in points")]
        let length = (number(cell) / most) as f32 * room;
        let label = faces.regular.fitted(name, 7.5, NAME - 6.0);
        marks.push(Mark::Text {
            at: (left, y + 8.0),
            text: label,
            size: 7.5,
            is_bold: false,
            ink: Ink::Black,
        });
        marks.push(Mark::Fill { area: (left + NAME, y + 1.0, length.max(0.5), BAR - 4.0), ink: Ink::Blue });
        let at = (left + NAME + length + 4.0, y + 8.0);
        marks.push(Mark::Text { at, text: shown.clone(), size: 7.5, is_bold: false, ink: Ink::Grey });
        said.push(format!("{name}: {shown}"));
        y += BAR;
    }
    Some((Figure { description: format!("{title}. {}", said.join("; ")), marks }, y - top))
}
