//! A small map: a straight line from the beginning to the end of each trip.

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::timeline::Position;

use super::canvas::{Figure, Ink, Mark, WIDTH};
use super::face::Faces;
use crate::words::{Word, word};

const HEIGHT: f32 = 150.0;
const MARGIN: f32 = 10.0;
/// The least number of degrees that a map shows.
const LEAST: f64 = 0.002;

/// The map with its height; none without trips.
pub(super) fn legs(
    legs: &[(Position, Position)],
    language: ConsoleLanguage,
    faces: &Faces,
    (left, top): (f32, f32),
) -> Option<(Figure, f32)> {
    let zero = legs.first()?.0.1.as_degrees();
    // Near the first position, so that a route over 180° stays in one piece.
    let near = |degrees: f64| zero + (degrees - zero + 180.0).rem_euclid(360.0) - 180.0;
    let point = |position: &Position| (near(position.1.as_degrees()), position.0.as_degrees());
    let lines: Vec<_> = legs.iter().map(|(from, to)| (point(from), point(to))).collect();
    let all: Vec<(f64, f64)> = lines.iter().flat_map(|(from, to)| [*from, *to]).collect();
    let bounds = |of: fn(&(f64, f64)) -> f64| {
        let least = all.iter().map(of).fold(f64::INFINITY, f64::min);
        let most = all.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        (least, most)
    };
    let ((west, east), (south, north)) = (bounds(|point| point.0), bounds(|point| point.1));
    let shrink = f64::midpoint(south, north).to_radians().cos().max(0.05);
    let (across, up) = (((east - west) * shrink).max(LEAST), (north - south).max(LEAST));
    let width = WIDTH / 2.0 - 8.0;
    let scale = (f64::from(width - 2.0 * MARGIN) / across).min(f64::from(HEIGHT - 2.0 * MARGIN) / up);
    let (middle_x, middle_y) = (f64::midpoint(west, east), f64::midpoint(south, north));
    #[expect(clippy::cast_possible_truncation, reason = "points of a page")]
    let placed = |(x, y): (f64, f64)| {
        let (x, y) = ((x - middle_x) * shrink * scale, (middle_y - y) * scale);
        (left + width / 2.0 + x as f32, top + HEIGHT / 2.0 + y as f32)
    };
    let title = word(Word::Map, language).to_owned();
    let mut marks = vec![Mark::Fill { area: (left, top, width, HEIGHT), ink: Ink::Pale }];
    for (from, to) in &lines {
        marks.push(Mark::Path { points: vec![placed(*from), placed(*to)], width: 0.9, ink: Ink::Blue });
    }
    for (from, to) in &lines {
        for (place, ink) in [(*from, Ink::Green), (*to, Ink::Red)] {
            let (x, y) = placed(place);
            marks.push(Mark::Fill { area: (x - 1.3, y - 1.3, 2.6, 2.6), ink });
        }
    }
    let label = faces.regular.fitted(&title, 7.0, width - 8.0);
    let at = (left + 4.0, top + HEIGHT - 4.0);
    marks.push(Mark::Text { at, text: label, size: 7.0, is_bold: false, ink: Ink::Grey });
    Some((Figure { description: title, marks }, HEIGHT))
}
