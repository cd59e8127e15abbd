//! Writes a canvas as PDF, with headers, footers, numbers of pages and tags.

use std::num::NonZeroU16;

use jiff::tz::TimeZone;
use krilla::color::rgb;
use krilla::configure::Configuration;
use krilla::destination::XyzDestination;
use krilla::geom::{PathBuilder, Point, Rect};
use krilla::metadata::{DateTime, Metadata};
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::paint::{Fill, Paint, Stroke};
use krilla::surface::Surface;
use krilla::tagging::{
    Artifact, ArtifactType, ContentTag, Identifier, Node, SpanTag, TableHeaderScope, Tag, TagGroup, TagTree,
};
use krilla::{Document, SerializeSettings};

use super::canvas::{Canvas, Element, Ink, LEFT, Mark, PAGE_HEIGHT, PAGE_WIDTH, Structure, TableCell, WIDTH};
use super::face::Faces;
use crate::heading::Heading;
use crate::writer::WriteError;

pub(super) fn export(
    canvas: &Canvas,
    heading: &Heading,
    faces: &Faces,
    configuration: Configuration,
) -> Result<Vec<u8>, WriteError> {
    let settings = SerializeSettings { configuration, ..SerializeSettings::default() };
    let mut document = Document::new_with(settings);
    document.set_metadata(metadata(heading));
    let mut identifiers: Vec<Option<Identifier>> = (0..canvas.parts).map(|_| None).collect();
    let count = canvas.pages.len();
    for (number, drawn) in (1..).zip(&canvas.pages) {
        let Some(settings) = PageSettings::from_wh(PAGE_WIDTH, PAGE_HEIGHT) else { continue };
        let mut page = document.start_page_with(settings);
        let mut surface = page.surface();
        frame(&mut surface, heading, faces, &format!("{number} / {count}"));
        for part in drawn {
            match part.part {
                Some(at) => {
                    let is_text = matches!(part.marks.as_slice(), [Mark::Text { .. }]);
                    let tag = if is_text { ContentTag::Span(SpanTag::empty()) } else { ContentTag::Other };
                    let identifier = surface.start_tagged(tag);
                    if let Some(slot) = identifiers.get_mut(at) {
                        *slot = Some(identifier);
                    }
                }
                None => {
                    let _decoration = surface.start_tagged(artifact(ArtifactType::Layout));
                }
            }
            for mark in &part.marks {
                draw(&mut surface, mark, faces);
            }
            surface.end_tagged();
        }
        surface.finish();
        page.finish();
    }
    if count > 0 {
        let mut outline = Outline::new();
        let start = XyzDestination::new(0, Point::from_xy(0.0, 0.0));
        outline.push_child(OutlineNode::new(heading.title.clone(), start));
        document.set_outline(outline);
    }
    document.set_tag_tree(tree(canvas, heading, &mut identifiers));
    document.finish().map_err(|error| WriteError::Pdf(format!("{error:?}")))
}

fn metadata(heading: &Heading) -> Metadata {
    let at = heading.created.to_jiff().to_zoned(TimeZone::UTC);
    let number = |number: i8| u8::try_from(number).unwrap_or_default();
    let created = DateTime::new(u16::try_from(at.year()).unwrap_or_default())
        .month(number(at.month()))
        .day(number(at.day()))
        .hour(number(at.hour()))
        .minute(number(at.minute()))
        .second(number(at.second()))
        .utc_offset_hour(0)
        .utc_offset_minute(0);
    Metadata::new()
        .title(heading.title.clone())
        .authors(vec![heading.account.clone()])
        .creator("Perigee".to_owned())
        .language(heading.language.name().to_owned())
        .creation_date(created)
}

const fn artifact(kind: ArtifactType) -> ContentTag<'static> {
    ContentTag::Artifact(Artifact { kind, bbox: None })
}

/// The header and the footer of a page.
fn frame(surface: &mut Surface<'_>, heading: &Heading, faces: &Faces, number: &str) {
    let size = 7.5;
    let half = WIDTH / 2.0 - 10.0;
    let title = faces.regular.fitted(&heading.title, size, half);
    let account = faces.regular.fitted(&heading.account, size, half);
    let right = |text: &str| LEFT + WIDTH - faces.regular.width(text, size);
    let (top, bottom) = (30.0, PAGE_HEIGHT - 24.0);
    let parts = [
        (ArtifactType::Header, (LEFT, top), title),
        (ArtifactType::Header, (right(&account), top), account.clone()),
        (ArtifactType::Footer, (LEFT, bottom), super::shown(heading, heading.created)),
        (ArtifactType::Footer, (right(number), bottom), number.to_owned()),
    ];
    for (kind, at, text) in parts {
        let _decoration = surface.start_tagged(artifact(kind));
        draw(surface, &Mark::Text { at, text, size, is_bold: false, ink: Ink::Grey }, faces);
        surface.end_tagged();
    }
}

const fn colour(ink: Ink) -> (u8, u8, u8) {
    match ink {
        Ink::Black => (20, 24, 31),
        Ink::Grey => (90, 98, 110),
        Ink::Pale => (243, 245, 248),
        Ink::Blue => (31, 94, 168),
        Ink::Red => (178, 40, 40),
        Ink::Green => (30, 120, 70),
    }
}

fn draw(surface: &mut Surface<'_>, mark: &Mark, faces: &Faces) {
    let paint = |ink| -> Paint {
        let (red, green, blue) = colour(ink);
        rgb::Color::new(red, green, blue).into()
    };
    match mark {
        Mark::Text { at, text, size, is_bold, ink } => {
            let face = if *is_bold { &faces.bold } else { &faces.regular };
            let (text, glyphs) = face.glyphs(text);
            if glyphs.is_empty() {
                return;
            }
            surface.set_stroke(None);
            surface.set_fill(Some(Fill { paint: paint(*ink), ..Fill::default() }));
            surface.draw_glyphs(Point::from_xy(at.0, at.1), &glyphs, face.font.clone(), &text, *size, false);
        }
        Mark::Fill { area: (left, top, width, height), ink } => {
            let mut path = PathBuilder::new();
            let Some(area) = Rect::from_xywh(*left, *top, *width, *height) else { return };
            path.push_rect(area);
            surface.set_stroke(None);
            surface.set_fill(Some(Fill { paint: paint(*ink), ..Fill::default() }));
            path.finish().iter().for_each(|path| surface.draw_path(path));
        }
        Mark::Path { points, width, ink } => {
            let mut path = PathBuilder::new();
            for (at, (x, y)) in points.iter().enumerate() {
                if at == 0 { path.move_to(*x, *y) } else { path.line_to(*x, *y) }
            }
            surface.set_fill(None);
            surface.set_stroke(Some(Stroke { paint: paint(*ink), width: *width, ..Stroke::default() }));
            path.finish().iter().for_each(|path| surface.draw_path(path));
        }
    }
}

/// The structure of the document. Each part of the content has one place in it.
fn tree(canvas: &Canvas, heading: &Heading, identifiers: &mut [Option<Identifier>]) -> TagTree {
    let mut take = |part: usize| identifiers.get_mut(part).and_then(Option::take);
    let mut tree = TagTree::new().with_lang(Some(heading.language.name().to_owned()));
    for element in &canvas.elements {
        match element {
            Element::Line(is, text, part) => {
                let mut group = match is {
                    Structure::Title => TagGroup::new(Tag::Hn(NonZeroU16::MIN, Some(text.clone()))),
                    Structure::Heading => {
                        TagGroup::new(Tag::Hn(NonZeroU16::MIN.saturating_add(1), Some(text.clone())))
                    }
                    Structure::Text => TagGroup::new(Tag::P),
                };
                if let Some(content) = take(*part) {
                    group.push(content);
                }
                tree.push(group);
            }
            Element::Figure(description, part) => {
                let mut group = TagGroup::new(Tag::Figure(Some(description.clone())));
                if let Some(content) = take(*part) {
                    group.push(content);
                }
                tree.push(group);
            }
            Element::Table(rows) => {
                let mut table = TagGroup::new(Tag::Table);
                for row in rows {
                    let cells = row.iter().map(|cell| Node::Group(table_cell(cell, &mut take)));
                    table.push(TagGroup::with_children(Tag::TR, cells.collect()));
                }
                tree.push(table);
            }
        }
    }
    tree
}

fn table_cell(cell: &TableCell, take: &mut impl FnMut(usize) -> Option<Identifier>) -> TagGroup {
    let mut group =
        if cell.is_title { TagGroup::new(Tag::TH(TableHeaderScope::Column)) } else { TagGroup::new(Tag::TD) };
    for content in cell.parts.iter().filter_map(|part| take(*part)) {
        group.push(content);
    }
    group
}
