//! Documents that obey the standard of accessible PDF.

use krilla::configure::{Accessibility, ConfigurationBuilder};

use super::{Pdf, ROWS_MAX};
use crate::tests::{english, row};
use crate::writer::Writer as _;

#[test]
fn documents_are_accessible_and_embed_their_fonts() {
    let accessible =
        ConfigurationBuilder::new().with_accessibility_validator(Accessibility::UA1).finish().unwrap();
    for (count, note) in [(0, ""), (1, "=1+1 ☃ 漢字 \u{1F6A2}"), (200, "Καλημέρα, доброе утро, mañana")]
    {
        let mut pdf = Pdf::open(english());
        for number in 0..count {
            let name = format!("Van {}", number % 20);
            pdf.add(&[row(&name, "2026-03-28T23:30:00Z", 1_000 * number, note)]).unwrap();
        }
        let bytes = pdf.export(accessible).unwrap();
        let has = |text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
        assert!(bytes.starts_with(b"%PDF-") && has(b"/StructTreeRoot") && has(b"/FontFile"), "{count} rows");
    }
}

#[test]
fn a_long_document_has_more_pages_and_a_limit() {
    let mut pdf = Pdf::open(english());
    let rows = vec![row("Van", "2026-03-28T23:30:00Z", 1, "a note"); ROWS_MAX];
    pdf.add(&rows).unwrap();
    let faces = super::Faces::load().unwrap();
    assert!(pdf.draw(&faces).pages.len() > 100);
    assert_eq!(pdf.add(&rows[..1]).unwrap_err().to_string(), "the report has more than 5000 rows");
}
