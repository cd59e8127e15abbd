//! Edits give the same rows for any order of locations and edits.

use proptest::prelude::*;

use super::super::{
    Anchor, EditKind, Edits, Segment, SegmentKind, TimelinePoint, Walk, WalkEnd, WalkPlan, derive,
    derive_edited,
};
use super::history::{Random, SETTINGS, cases, journey};
use crate::locations::location::TimeRange;
use crate::time::Timestamp;

type Edit = (EditKind, TimeRange);

/// The rows of a device, kept as a store keeps them.
#[derive(Clone, Debug, Default)]
struct Device {
    points: Vec<TimelinePoint>,
    edits: Vec<Edit>,
    segments: Vec<Segment>,
    anchors: Vec<Anchor>,
}

impl Device {
    fn edits(&self) -> Edits {
        Edits::new(self.edits.iter().copied())
    }

    /// Derives what changed in this time. A careless device ignores that merged trips have no anchors.
    fn update(&mut self, changed: TimeRange, is_careful: bool) {
        let resume = self.anchors.iter().rfind(|anchor| anchor.settled < changed.from).cloned();
        let from = resume.as_ref().map_or(Timestamp::MIN, Anchor::stop_from);
        let at = resume.as_ref().map_or(Timestamp::MIN, |anchor| anchor.at);
        let later = self.anchors.iter().filter(|anchor| anchor.at > changed.to.max(at)).cloned().collect();
        let all = self.edits();
        let splits = all.splits().iter().map(|at| (EditKind::Split, TimeRange { from: *at, to: *at }));
        let edits = if is_careful { all.clone() } else { Edits::new(splits) };
        let plan = WalkPlan { resume, changed_to: Some(changed.to), later, edits, limit: None };
        let mut walk = Walk::new(SETTINGS(), plan);
        let rest = self.points.iter().filter(|point| point.time >= at);
        let end = rest.cloned().find_map(|point| walk.push(point)).unwrap_or(WalkEnd::Newest);
        let (mut segments, anchors) = walk.finish(end);
        if !is_careful {
            segments = self.edits().merge(segments);
        }
        let (to, until) = match end {
            WalkEnd::Newest => (Timestamp::MAX, Timestamp::MAX),
            WalkEnd::Joined(to, until) | WalkEnd::Part(to, until) => (to, until),
        };
        self.segments.retain(|row| row.from < from || row.from >= to);
        self.segments.extend(segments);
        self.segments.sort_by_key(|row| row.from);
        self.anchors.retain(|anchor| anchor.at <= at || anchor.at >= until);
        self.anchors.extend(anchors);
        self.anchors.sort_by_key(|anchor| anchor.at);
    }

    fn arrive(&mut self, batch: Vec<TimelinePoint>, is_careful: bool) {
        let times = batch.iter().map(|point| point.time);
        let (Some(from), Some(to)) = (times.clone().min(), times.max()) else { return };
        self.points.extend(batch);
        self.points.sort_by(TimelinePoint::order);
        self.points.dedup_by_key(|point| point.time);
        self.update(TimeRange { from, to }, is_careful);
    }

    fn add(&mut self, edit: Edit, is_careful: bool) {
        self.edits.push(edit);
        if is_careful {
            for covered in Edits::new([edit]).covered() {
                self.anchors.retain(|anchor| anchor.at < covered.from || anchor.at > covered.to);
            }
        }
        self.update(edit.1, is_careful);
    }

    fn remove(&mut self, index: usize, is_careful: bool) {
        let edit = self.edits.remove(index);
        self.update(edit.1, is_careful);
    }
}

/// An edit of a history, as a person would make it, or at any instant.
fn edit_of(points: &[TimelinePoint], random: &mut Random) -> Option<Edit> {
    let segments = derive(points.to_vec(), SETTINGS());
    let trips: Vec<&Segment> = segments.iter().filter(|row| row.kind == SegmentKind::Trip).collect();
    let index = usize::try_from(random.below(trips.len().max(1) as u64)).unwrap();
    let trip = trips.get(index)?;
    let length = u64::try_from(trip.length_ms()).unwrap();
    let at = trip.from.plus_millis(i64::try_from(random.below(length.max(1))).unwrap());
    if random.below(2) == 0 {
        return Some((EditKind::Split, TimeRange { from: at, to: at }));
    }
    let last = trips.get(index + 1 + usize::try_from(random.below(3)).unwrap())?;
    let moved = if random.below(3) == 0 { i64::try_from(random.below(600_000)).unwrap() } else { 0 };
    Some((EditKind::Merge, TimeRange { from: trip.to.plus_millis(-moved), to: last.from }))
}

/// Lets the points of a history arrive in any order while people edit; returns the rows and those that are right.
fn live(seed: u64, is_careful: bool) -> (Vec<Segment>, Vec<Segment>) {
    let random = &mut Random(seed ^ 3);
    let mut arriving = journey(seed);
    arriving.sort_by(TimelinePoint::order);
    let whole = arriving.clone();
    let mut device = Device::default();
    while !arriving.is_empty() {
        let count = arriving.len() as u64;
        let from = usize::try_from(random.below(count)).unwrap();
        let size = usize::try_from(1 + random.below(count / 2 + 1)).unwrap();
        let batch: Vec<_> = arriving.drain(from..(from + size).min(arriving.len())).collect();
        device.arrive(batch, is_careful);
        match random.below(3) {
            0 if !device.edits.is_empty() => {
                let index = usize::try_from(random.below(device.edits.len() as u64)).unwrap();
                device.remove(index, is_careful);
            }
            _ => {
                if let Some(edit) = edit_of(&whole, random) {
                    device.add(edit, is_careful);
                }
            }
        }
    }
    let edits = device.edits();
    (device.segments, derive_edited(device.points, SETTINGS(), &edits))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn edits_and_locations_in_any_order_give_the_same_rows(seed: u64) {
        let (rows, expect) = live(seed, true);
        prop_assert_eq!(rows, expect);
    }

    #[test]
    fn edited_segments_tile_the_history(seed: u64) {
        let random = &mut Random(seed ^ 4);
        let mut points = journey(seed);
        points.sort_by(TimelinePoint::order);
        let edits: Vec<Edit> = (0..6).filter_map(|_| edit_of(&points, random)).collect();
        let plain = derive(points.clone(), SETTINGS());
        let edited = derive_edited(points, SETTINGS(), &Edits::new(edits));
        prop_assert_eq!(plain.first().map(|row| row.from), edited.first().map(|row| row.from));
        prop_assert_eq!(plain.last().map(|row| row.to), edited.last().map(|row| row.to));
        prop_assert!(edited.windows(2).all(|pair| pair[0].to == pair[1].from));
        for row in edited.iter().filter(|row| row.kind == SegmentKind::Trip) {
            let seconds = u64::try_from(row.length_ms()).unwrap() / 1_000;
            prop_assert_eq!(row.moving_s + row.standing_s, seconds);
            prop_assert!(row.from < row.to && row.idling_s <= row.standing_s);
        }
    }
}

/// The comparison finds a store that begins a derivation inside of a merged trip.
#[test]
fn a_derivation_that_begins_in_a_merged_trip_is_caught() {
    let differs = (0..200).any(|seed| {
        let (rows, expect) = live(seed, false);
        rows != expect
    });
    assert!(differs, "anchors inside of merged trips must give other rows");
}

#[test]
fn a_split_measures_both_parts_and_a_merge_undoes_it() {
    let minute = |minute: i64| {
        let way = (minute - 20).clamp(0, 20);
        super::history::at(minute * 60, 0.0, f64::from(i32::try_from(way).unwrap()) * 1_000.0)
    };
    let points: Vec<TimelinePoint> = (0..60).map(minute).collect();
    let plain = derive(points.clone(), SETTINGS());
    let trip = plain.iter().find(|row| row.kind == SegmentKind::Trip).unwrap();
    // A quarter of the way, between two fixes.
    let at = trip.from.plus_millis(trip.length_ms() / 4 + 30_000);
    let split = (EditKind::Split, TimeRange { from: at, to: at });
    let parts = derive_edited(points.clone(), SETTINGS(), &Edits::new([split]));
    let trips: Vec<&Segment> = parts.iter().filter(|row| row.kind == SegmentKind::Trip).collect();
    assert_eq!((trips.len(), trips[0].to, trips[1].from), (2, at, at));
    let sum: u64 = trips.iter().map(|part| part.distance_m).sum();
    assert!(sum.abs_diff(trip.distance_m) <= 2 && trips[0].distance_m < trips[1].distance_m / 2, "{trips:?}");
    let merged = derive_edited(points, SETTINGS(), &Edits::new([split, (EditKind::Merge, split.1)]));
    assert_eq!(merged, plain);
}
