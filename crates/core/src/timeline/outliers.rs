//! Leaves out single far-off fixes.
//!
//! A receiver can be wrong by hundreds of metres for one fix. The fixes before and after such a fix agree with each
//! other, and moving there and back would require a speed that no other fix supports.

use super::TimelinePoint;
use super::plane::metres;
use crate::locations::location::Milli;

/// A fix nearer than this to its neighbours is noise that the radius of a stop covers.
const NEAR_M: f64 = 150.0;
/// A lone fix up to this far from where the device was before and after is an error of the receiver.
const LONE_M: f64 = 1_500.0;
/// Speed up to which a far-off fix is plausible without other evidence, in metres per second.
const SLOW_M_PER_S: f64 = 5.0;
/// A fix is far off if reaching it requires more than this many times the speed that other fixes support.
const FASTER: f64 = 2.0;

/// The indices of the points that are not far off. `radius_m` is the radius of a stop. The first and the last point of
/// a history are kept if their neighbours do not contradict them; quiet ones are always kept.
pub(super) fn kept(points: &[TimelinePoint], quiet: (bool, bool), radius_m: f64) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::with_capacity(points.len());
    for (index, point) in points.iter().enumerate() {
        let before = kept.last().and_then(|before| points.get(*before));
        let next = points.get(index + 1);
        let is_off = match (before, next) {
            (Some(before), Some(next)) => {
                let earlier = kept.len().checked_sub(2).and_then(|at| points.get(*kept.get(at)?));
                is_far_off([before, point, next], earlier, points.get(index + 2), radius_m)
            }
            (None, Some(next)) => !quiet.0 && is_lone_end(point, next, points.get(index + 2), radius_m),
            (Some(before), None) => {
                let earlier = kept.len().checked_sub(2).and_then(|at| points.get(*kept.get(at)?));
                !quiet.1 && is_lone_end(point, before, earlier, radius_m)
            }
            (None, None) => false,
        };
        if !is_off {
            kept.push(index);
        }
    }
    kept
}

/// Whether moving to a fix and back would require a speed that no other fix supports. `earlier` is before `before`, and
/// `later` after `next`.
pub(super) fn is_far_off(
    [before, point, next]: [&TimelinePoint; 3],
    earlier: Option<&TimelinePoint>,
    later: Option<&TimelinePoint>,
    radius_m: f64,
) -> bool {
    let (there, back) =
        (metres(before.position(), point.position()), metres(point.position(), next.position()));
    if there.min(back) < NEAR_M {
        return false;
    }
    let direct = metres(before.position(), next.position());
    if direct <= radius_m && there.min(back) <= LONE_M && !is_confirmed(point) {
        return true;
    }
    if there + back - direct < 2.0 * NEAR_M {
        return false;
    }
    let legs =
        [Some((before, next)), earlier.map(|earlier| (earlier, before)), later.map(|later| (next, later))];
    let measured = legs.into_iter().flatten().map(|(from, to)| speed(from, to)).fold(0.0, f64::max);
    let reported = [before, point, next].into_iter().filter_map(reported).fold(0.0, f64::max);
    let evidence = measured.max(reported).max(SLOW_M_PER_S);
    speed(before, point).min(speed(point, next)) > FASTER * evidence
}

/// Whether the first or last fix of a history is far from the position at which the device stood.
fn is_lone_end(
    end: &TimelinePoint,
    near: &TimelinePoint,
    far: Option<&TimelinePoint>,
    radius_m: f64,
) -> bool {
    let away = metres(end.position(), near.position());
    let stood = far.is_some_and(|far| metres(near.position(), far.position()) <= radius_m / 3.0);
    away > radius_m && away <= LONE_M && stood && !is_confirmed(end) && !is_confirmed(near)
}

/// Whether the device itself reported motion at a fix.
fn is_confirmed(point: &TimelinePoint) -> bool {
    reported(point).is_some_and(|speed| speed > SLOW_M_PER_S)
}

fn reported(point: &TimelinePoint) -> Option<f64> {
    point.speed.map(|speed| Milli::as_f64(speed) / 3.6)
}

fn speed(from: &TimelinePoint, to: &TimelinePoint) -> f64 {
    metres(from.position(), to.position()) / seconds(from, to).max(1.0)
}

/// Seconds from one point to another.
#[expect(clippy::cast_precision_loss, reason = "milliseconds of the calendar fit")]
pub(super) fn seconds(from: &TimelinePoint, to: &TimelinePoint) -> f64 {
    (to.time.as_millis() - from.time.as_millis()) as f64 / 1_000.0
}
