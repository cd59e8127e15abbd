//! What is drawn on the pages of a document, before the number of pages is known.

use super::face::Face;

/// A4 in landscape, in points.
pub(super) const PAGE_WIDTH: f32 = 841.89;
pub(super) const PAGE_HEIGHT: f32 = 595.28;
/// Margins.
pub(super) const LEFT: f32 = 36.0;
pub(super) const TOP: f32 = 48.0;
pub(super) const BOTTOM: f32 = PAGE_HEIGHT - 42.0;
/// The width between the margins.
pub(super) const WIDTH: f32 = PAGE_WIDTH - 2.0 * LEFT;

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Black,
    Grey,
    Pale,
    Blue,
    Red,
    Green,
}

/// Something drawn at a place.
#[derive(Clone, Debug)]
pub(super) enum Mark {
    /// A line of text: its left end and base line.
    Text { at: (f32, f32), text: String, size: f32, is_bold: bool, ink: Ink },
    /// A filled box: left, top, width, height.
    Fill { area: (f32, f32, f32, f32), ink: Ink },
    /// A line through these points.
    Path { points: Vec<(f32, f32)>, width: f32, ink: Ink },
}

/// A heading or a paragraph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Structure {
    Title,
    Heading,
    Text,
}

/// The number of a part of the content, by which the structure names it.
pub(super) type Part = usize;

/// Marks that belong together. Marks without a number are decoration.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) part: Option<Part>,
    pub(super) marks: Vec<Mark>,
}

/// A cell of a table: its lines.
#[derive(Debug)]
pub(super) struct TableCell {
    pub(super) is_title: bool,
    pub(super) parts: Vec<Part>,
}

/// A part of the structure of the document, in reading order.
#[derive(Debug)]
pub(super) enum Element {
    Line(Structure, String, Part),
    Figure(String, Part),
    Table(Vec<Vec<TableCell>>),
}

/// A figure: its description and what is drawn.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) description: String,
    pub(super) marks: Vec<Mark>,
}

/// Pages, and the structure of what is on them.
#[derive(Debug)]
pub(super) struct Canvas {
    pub(super) pages: Vec<Vec<Drawn>>,
    pub(super) elements: Vec<Element>,
    pub(super) parts: Part,
    y: f32,
}

impl Canvas {
    pub(super) fn new() -> Self {
        Self { pages: vec![Vec::new()], elements: Vec::new(), parts: 0, y: TOP }
    }

    /// Where the next line begins.
    pub(super) const fn y(&self) -> f32 {
        self.y
    }

    pub(super) fn space(&mut self, height: f32) {
        self.y += height;
    }

    /// Begins a page unless this height is left. Says whether it did.
    pub(super) fn break_before(&mut self, height: f32) -> bool {
        let breaks = self.y + height > BOTTOM;
        if breaks {
            self.pages.push(Vec::new());
            self.y = TOP;
        }
        breaks
    }

    /// Draws decoration.
    pub(super) fn decorate(&mut self, mark: Mark) {
        self.push(None, vec![mark]);
    }

    /// Draws content and returns its number.
    pub(super) fn draw(&mut self, marks: Vec<Mark>) -> Part {
        let part = self.parts;
        self.parts += 1;
        self.push(Some(part), marks);
        part
    }

    fn push(&mut self, part: Option<Part>, marks: Vec<Mark>) {
        if let Some(page) = self.pages.last_mut() {
            page.push(Drawn { part, marks });
        }
    }

    /// Draws a line of text at the left margin and moves below it.
    pub(super) fn line(&mut self, text: &str, (face, size): (&Face, f32), ink: Ink, is: Option<Structure>) {
        self.break_before(size * 1.4);
        let is_bold = is.is_some_and(|is| is != Structure::Text);
        let text = face.fitted(text, size, WIDTH);
        let at = (LEFT, self.y + size);
        let mark = Mark::Text { at, text: text.clone(), size, is_bold, ink };
        match is {
            Some(is) => {
                let part = self.draw(vec![mark]);
                self.elements.push(Element::Line(is, text, part));
            }
            None => self.decorate(mark),
        }
        self.y += size * 1.4;
    }

    /// Draws a figure at the place that its marks have.
    pub(super) fn figure(&mut self, figure: Figure) {
        let part = self.draw(figure.marks);
        self.elements.push(Element::Figure(figure.description, part));
    }
}
