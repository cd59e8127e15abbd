//! The fonts of documents, and the widths of texts.

use krilla::text::{Font, GlyphId, KrillaGlyph};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider as _};

const REGULAR: &[u8] = include_bytes!("../../fonts/NotoSans-Regular.ttf");
const BOLD: &[u8] = include_bytes!("../../fonts/NotoSans-SemiBold.ttf");
/// Stands for letters that the fonts do not have.
const UNKNOWN: char = '\u{fffd}';

/// A font with the tables that measure texts.
pub(super) struct Face {
    pub(super) font: Font,
    tables: FontRef<'static>,
    units_per_em: f32,
}

/// The fonts of a document.
pub(super) struct Faces {
    pub(super) regular: Face,
    pub(super) bold: Face,
}

impl Faces {
    pub(super) fn load() -> Option<Self> {
        Some(Self { regular: Face::load(REGULAR)?, bold: Face::load(BOLD)? })
    }
}

impl Face {
    fn load(bytes: &'static [u8]) -> Option<Self> {
        let font = Font::new(bytes.into(), 0)?;
        let units_per_em = font.units_per_em();
        Some(Self { font, tables: FontRef::new(bytes).ok()?, units_per_em })
    }

    /// The text as glyphs from left to right, and as it must be stored beside them.
    pub(super) fn glyphs(&self, text: &str) -> (String, Vec<KrillaGlyph>) {
        let (map, metrics) =
            (self.tables.charmap(), self.tables.glyph_metrics(Size::unscaled(), LocationRef::default()));
        let (mut known, mut glyphs) = (String::with_capacity(text.len()), Vec::new());
        for letter in text.chars() {
            let letter = if letter.is_whitespace() { ' ' } else { letter };
            let found = map.map(letter).map(|glyph| (letter, glyph));
            let Some((letter, glyph)) = found.or_else(|| map.map(UNKNOWN).map(|glyph| (UNKNOWN, glyph)))
            else {
                continue;
            };
            let start = known.len();
            known.push(letter);
            glyphs.push(KrillaGlyph {
                glyph_id: GlyphId::new(glyph.to_u32()),
                text_range: start..known.len(),
                x_advance: metrics.advance_width(glyph).unwrap_or_default() / self.units_per_em,
                x_offset: 0.0,
                y_offset: 0.0,
                y_advance: 0.0,
                location: None,
            });
        }
        (known, glyphs)
    }

    /// The width of a text in points.
    pub(super) fn width(&self, text: &str, size: f32) -> f32 {
        self.glyphs(text).1.iter().map(|glyph| glyph.x_advance * size).sum()
    }

    /// The text, cut with an ellipsis to a width.
    pub(super) fn fitted(&self, text: &str, size: f32, width: f32) -> String {
        if self.width(text, size) <= width {
            return text.to_owned();
        }
        let mut left = width - self.width("…", size);
        let mut cut = String::new();
        for letter in text.chars() {
            left -= self.width(letter.encode_utf8(&mut [0; 4]), size);
            if left < 0.0 {
                break;
            }
            cut.push(letter);
        }
        cut.push('…');
        cut
    }

    /// The text in lines of a width, broken at spaces; what does not fit into `most` lines is cut.
    pub(super) fn wrapped(&self, text: &str, size: f32, width: f32, most: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            let joined = lines.last().map(|line| format!("{line} {word}"));
            let is_full = lines.len() == most;
            match (joined.filter(|joined| self.width(joined, size) <= width), lines.last_mut()) {
                (Some(joined), Some(line)) => *line = joined,
                (_, Some(line)) if is_full => {
                    *line = self.fitted(&format!("{line} {word}"), size, width);
                    return lines;
                }
                _ => lines.push(self.fitted(word, size, width)),
            }
        }
        lines
    }
}
