//! Cuts segments to a period so that parts add up to the whole.

use super::{Segment, SegmentKind};
use crate::locations::location::Milli;
use crate::time::Timestamp;

/// Returns the segments that overlap a period, cut to it.
///
/// Distance, durations and fuel are divided in proportion to time. The share up to an instant is
/// `total * elapsed / length`, rounded down, and a part has the difference of the shares at its two ends. Adjacent parts
/// therefore add up to the segment exactly. A cut trip keeps the positions of the whole trip, because a segment does not
/// contain its track.
pub fn clip(segments: &[Segment], from: Timestamp, to: Timestamp) -> Vec<Segment> {
    segments.iter().filter_map(|segment| clip_one(segment, from, to)).collect()
}

/// Beginning and end.
pub(super) type Span = (Timestamp, Timestamp);

/// The part of a segment that falls into a period, if there is one.
pub(super) fn part_of(whole: Span, period: Span) -> Option<Span> {
    let (from, to) = (whole.0.max(period.0), whole.1.min(period.1));
    (from < to).then_some((from, to))
}

/// How much of a total of a segment falls into a part of it.
pub(super) fn share(whole: Span, total: u64, part: Span) -> u64 {
    until(whole, total, part.1) - until(whole, total, part.0)
}

fn clip_one(segment: &Segment, from: Timestamp, to: Timestamp) -> Option<Segment> {
    let whole = (segment.from, segment.to);
    let (from, to) = part_of(whole, (from, to))?;
    if (from, to) == whole {
        return Some(segment.clone());
    }
    let share = |total: u64| share(whole, total, (from, to));
    let moving_s = share(segment.moving_s);
    let standing_s = share(segment.standing_s);
    Some(Segment {
        from,
        to,
        distance_m: share(segment.distance_m),
        moving_s,
        standing_s,
        idling_s: share(segment.idling_s),
        engine_s: segment.engine_s.map(share),
        fuel_used: segment.fuel_used.map(|used| share_milli(used, share)),
        max_speed: segment.max_speed.filter(|_| segment.kind == SegmentKind::Trip),
        ..segment.clone()
    })
}

/// The share of a total between the beginning of a span and an instant within it.
fn until(whole: Span, total: u64, instant: Timestamp) -> u64 {
    let elapsed = instant.as_millis().abs_diff(whole.0.as_millis());
    let length = whole.1.as_millis().abs_diff(whole.0.as_millis()).max(1);
    let part = u128::from(total) * u128::from(elapsed) / u128::from(length);
    // A part is at most the total.
    u64::try_from(part).unwrap_or(total)
}

fn share_milli(used: Milli, share: impl Fn(u64) -> u64) -> Milli {
    let part = share(used.as_thousandths().unsigned_abs());
    Milli::from_thousandths(i64::try_from(part).unwrap_or(i64::MAX))
}
