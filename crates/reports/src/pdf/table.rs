//! Tables that go on over pages, with their titles on each.

use std::borrow::Borrow;

use super::canvas::{Canvas, Element, Ink, LEFT, Mark, Structure, TableCell, WIDTH};
use super::face::{Face, Faces};

const SIZE: f32 = 7.5;
const LINE: f32 = 9.5;
const PADDING: f32 = 3.0;
/// Lines of a cell.
const LINES_MAX: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// A table: title, width in characters and alignment of each column, and rows of texts.
#[derive(Debug)]
pub(super) struct Table<R> {
    pub(super) title: String,
    pub(super) columns: Vec<(String, u16, Align)>,
    pub(super) rows: R,
    pub(super) is_last_bold: bool,
}

/// A row laid out: the lines of each cell.
struct Laid {
    cells: Vec<Vec<String>>,
    height: f32,
}

impl<R: Borrow<Vec<Vec<String>>>> Table<R> {
    pub(super) fn draw(&self, canvas: &mut Canvas, faces: &Faces) {
        let rows = self.rows.borrow();
        let titles: Vec<String> = self.columns.iter().map(|(title, ..)| title.clone()).collect();
        let titles = self.laid(&titles, &faces.bold);
        canvas.break_before(16.0 + titles.height + LINE * 2.0);
        canvas.line(&self.title, (&faces.bold, 11.0), Ink::Black, Some(Structure::Heading));
        canvas.space(2.0);
        let mut cells = vec![self.row(canvas, &titles, (&faces.bold, true), RowKind::Titles)];
        for (at, row) in rows.iter().enumerate() {
            let is_bold = self.is_last_bold && at + 1 == rows.len();
            let face = if is_bold { &faces.bold } else { &faces.regular };
            let laid = self.laid(row, face);
            if canvas.break_before(laid.height) {
                self.row(canvas, &titles, (&faces.bold, true), RowKind::Repeated);
            }
            if at % 2 == 1 {
                let area = (LEFT, canvas.y(), WIDTH, laid.height);
                canvas.decorate(Mark::Fill { area, ink: Ink::Pale });
            }
            cells.push(self.row(canvas, &laid, (face, is_bold), RowKind::Content));
        }
        canvas.elements.push(Element::Table(cells));
    }

    fn widths(&self) -> Vec<f32> {
        let all: f32 = self.columns.iter().map(|(_, width, _)| f32::from(*width)).sum();
        self.columns.iter().map(|(_, width, _)| f32::from(*width) * WIDTH / all.max(1.0)).collect()
    }

    fn laid(&self, texts: &[String], face: &Face) -> Laid {
        let cells: Vec<Vec<String>> = texts
            .iter()
            .zip(self.widths())
            .map(|(text, width)| face.wrapped(text, SIZE, width - 2.0 * PADDING, LINES_MAX))
            .collect();
        let lines = cells.iter().map(Vec::len).max().unwrap_or(1).max(1);
        #[expect(clippy::cast_precision_loss, reason = "at most three lines")]
        let height = lines as f32 * LINE + 2.0 * PADDING;
        Laid { cells, height }
    }

    /// Draws a row and moves below it.
    fn row(
        &self,
        canvas: &mut Canvas,
        laid: &Laid,
        (face, is_bold): (&Face, bool),
        kind: RowKind,
    ) -> Vec<TableCell> {
        let top = canvas.y();
        let (mut left, mut cells) = (LEFT, Vec::new());
        for ((lines, width), (.., align)) in laid.cells.iter().zip(self.widths()).zip(&self.columns) {
            let mut parts = Vec::new();
            let mut base = top + PADDING + SIZE;
            for line in lines {
                let x = match align {
                    Align::Left => left + PADDING,
                    Align::Right => left + width - PADDING - face.width(line, SIZE),
                };
                let mark =
                    Mark::Text { at: (x, base), text: line.clone(), size: SIZE, is_bold, ink: Ink::Black };
                if kind == RowKind::Repeated {
                    canvas.decorate(mark);
                } else {
                    parts.push(canvas.draw(vec![mark]));
                }
                base += LINE;
            }
            cells.push(TableCell { is_title: kind == RowKind::Titles, parts });
            left += width;
        }
        canvas.space(laid.height);
        if kind != RowKind::Content {
            let points = vec![(LEFT, canvas.y()), (LEFT + WIDTH, canvas.y())];
            canvas.decorate(Mark::Path { points, width: 0.7, ink: Ink::Grey });
        }
        cells
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowKind {
    Titles,
    /// The titles again, on a further page.
    Repeated,
    Content,
}
