//! What holds for any history.

use proptest::prelude::*;

use super::super::{Anchor, Closed, Derivation, Segment, SegmentKind, TimelinePoint, clip, derive};
use super::history::{Random, SETTINGS, cases, journey};
use crate::time::Timestamp;

/// The segments as a store keeps them, with the anchors.
#[derive(Clone, Debug, Default, PartialEq)]
struct Stored {
    segments: Vec<Segment>,
    anchors: Vec<Anchor>,
}

fn sorted(mut points: Vec<TimelinePoint>) -> Vec<TimelinePoint> {
    points.sort_by(TimelinePoint::order);
    points
}

fn whole(points: &[TimelinePoint]) -> Stored {
    let mut stored = Stored::default();
    let mut derivation = Derivation::new(SETTINGS());
    for point in points {
        for Closed { segments, anchor } in derivation.push(point.clone()) {
            stored.segments.extend(segments);
            stored.anchors.push(anchor);
        }
    }
    stored.segments.extend(derivation.finish());
    stored
}

/// Brings stored segments up to date after points of the given time and later changed, as the module's text says.
fn update(stored: &Stored, points: &[TimelinePoint], (first, last): (Timestamp, Timestamp)) -> Stored {
    let before = stored.anchors.iter().rposition(|anchor| anchor.settled < first);
    let anchor = before.and_then(|at| stored.anchors.get(at)).cloned();
    let mut derivation = anchor
        .clone()
        .map_or_else(|| Derivation::new(SETTINGS()), |anchor| Derivation::resume(SETTINGS(), anchor));
    let at = anchor.as_ref().map_or(Timestamp::MIN, |anchor| anchor.at);
    let from = anchor.as_ref().map_or(Timestamp::MIN, Anchor::stop_from);
    let mut segments: Vec<_> = stored.segments.iter().filter(|row| row.from < from).cloned().collect();
    let mut anchors: Vec<_> = stored.anchors.iter().take(before.map_or(0, |at| at + 1)).cloned().collect();
    for point in points.iter().filter(|point| point.time >= at) {
        for closed in derivation.push(point.clone()) {
            segments.extend(closed.segments);
            let is_same = closed.anchor.at > last && stored.anchors.contains(&closed.anchor);
            anchors.push(closed.anchor.clone());
            if is_same {
                let rest = closed.anchor.stop_from();
                segments.extend(stored.segments.iter().filter(|row| row.from >= rest).cloned());
                anchors.extend(stored.anchors.iter().filter(|anchor| anchor.at > closed.anchor.at).cloned());
                return Stored { segments, anchors };
            }
        }
    }
    segments.extend(derivation.finish());
    Stored { segments, anchors }
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for index in (1..items.len()).rev() {
        items.swap(index, usize::try_from(random.below(index as u64 + 1)).unwrap());
    }
}

fn check_shape(points: &[TimelinePoint], segments: &[Segment]) {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    if first.time < last.time {
        assert_eq!(segments.first().map(|segment| segment.from), Some(first.time));
        assert_eq!(segments.last().map(|segment| segment.to), Some(last.time));
    }
    for pair in segments.windows(2) {
        assert_eq!(pair[0].to, pair[1].from, "{pair:?}");
    }
    for segment in segments {
        assert!(segment.from < segment.to, "{segment:?}");
        let seconds = u64::try_from(segment.length_ms()).unwrap() / 1_000;
        let measured = segment.moving_s + segment.standing_s;
        assert_eq!(measured, if segment.kind == SegmentKind::Gap { 0 } else { seconds }, "{segment:?}");
        assert!(segment.idling_s <= segment.standing_s, "{segment:?}");
        assert!(segment.distance_m < 50_000_000, "{segment:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn segments_tile_the_history(seed: u64) {
        let points = sorted(journey(seed));
        let stored = whole(&points);
        check_shape(&points, &stored.segments);
        prop_assert_eq!(&stored.segments, &derive(points, SETTINGS()));
    }

    #[test]
    fn a_window_between_anchors_equals_the_whole(seed: u64) {
        let points = sorted(journey(seed));
        let stored = whole(&points);
        for (index, anchor) in stored.anchors.iter().enumerate() {
            let mut derivation = Derivation::resume(SETTINGS(), anchor.clone());
            let mut rest: Vec<Segment> = Vec::new();
            let mut anchors = Vec::new();
            for point in points.iter().filter(|point| point.time >= anchor.at) {
                for closed in derivation.push(point.clone()) {
                    rest.extend(closed.segments);
                    anchors.push(closed.anchor);
                }
            }
            rest.extend(derivation.finish());
            let from = anchor.stop_from();
            let expect: Vec<_> = stored.segments.iter().filter(|row| row.from >= from).cloned().collect();
            prop_assert_eq!(rest, expect, "anchor {}", index);
            prop_assert_eq!(&anchors[..], &stored.anchors[index + 1..]);
        }
    }

    #[test]
    fn any_arrival_gives_the_same_rows(seed: u64) {
        let random = &mut Random(seed ^ 1);
        let points = sorted(journey(seed));
        let expect = whole(&points);
        let mut arriving: Vec<_> = points.iter().chain(points.iter().step_by(7)).cloned().collect();
        if seed.is_multiple_of(2) {
            shuffle(&mut arriving, random);
        }
        let (mut stored, mut known) = (Stored::default(), Vec::new());
        while !arriving.is_empty() {
            let size = usize::try_from(1 + random.below(arriving.len() as u64 / 2 + 1)).unwrap();
            let batch: Vec<_> = arriving.drain(..size.min(arriving.len())).collect();
            let first = batch.iter().map(|point| point.time).min().unwrap();
            let last = batch.iter().map(|point| point.time).max().unwrap();
            known.extend(batch);
            known.sort_by(TimelinePoint::order);
            stored = update(&stored, &known, (first, last));
        }
        prop_assert_eq!(stored, expect);
    }

    #[test]
    fn deletions_give_the_rows_of_what_remains(seed: u64) {
        let random = &mut Random(seed ^ 2);
        let mut points = sorted(journey(seed));
        let mut stored = whole(&points);
        for _ in 0..5 {
            let first = usize::try_from(random.below(points.len() as u64)).unwrap();
            let last = (first + usize::try_from(random.below(30)).unwrap()).min(points.len() - 1);
            let times = (points[first].time, points[last].time);
            points.drain(first..=last);
            if points.is_empty() {
                break;
            }
            stored = update(&stored, &points, times);
            prop_assert_eq!(&stored, &whole(&points));
        }
    }

    #[test]
    fn parts_add_up_to_the_whole(seed: u64, cuts in proptest::collection::vec(0.0..1.0_f64, 0..6)) {
        let points = sorted(journey(seed));
        let segments = derive(points, SETTINGS());
        let (from, to) = (segments.first().unwrap().from, segments.last().unwrap().to);
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a share of a length")]
        let mut bounds: Vec<_> = cuts
            .iter()
            .map(|cut| from.plus_millis(((to.as_millis() - from.as_millis()) as f64 * cut) as i64))
            .chain([from, to])
            .collect();
        bounds.sort_unstable();
        let parts: Vec<_> =
            bounds.windows(2).flat_map(|pair| clip(&segments, pair[0], pair[1])).collect();
        let sums = |rows: &[Segment]| {
            let sum = |of: fn(&Segment) -> u64| rows.iter().map(of).sum::<u64>();
            [
                sum(|row| row.distance_m),
                sum(|row| row.moving_s),
                sum(|row| row.standing_s),
                sum(|row| row.idling_s),
                sum(|row| row.engine_s.unwrap_or(0)),
                sum(|row| row.length_ms().unsigned_abs()),
            ]
        };
        prop_assert_eq!(sums(&parts), sums(&segments));
        prop_assert!(parts.windows(2).all(|pair| pair[0].to == pair[1].from));
        prop_assert!(parts.iter().all(|part| part.from < part.to));
    }
}

/// The comparison finds a derivation that depends on the order of arrival: one that never looks back.
#[test]
fn an_order_dependent_variant_is_caught() {
    let differs = (0..20).any(|seed| {
        let points = sorted(journey(seed));
        let mut arriving = points.clone();
        shuffle(&mut arriving, &mut Random(seed));
        derive(arriving, SETTINGS()) != derive(points, SETTINGS())
    });
    assert!(differs, "points passed in the order of arrival must give other rows");
}
