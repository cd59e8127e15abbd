//! Whether a location is late or suspect, decided once when it arrives.

use super::{Fix, FixSource, Milli};
use crate::time::Timestamp;

/// How far ahead of the server's clock a fix may be.
const FUTURE_TOLERANCE_MS: i64 = 10 * 60 * 1000;
/// The age from which a location is late.
const LATE_AFTER_MS: i64 = 10 * 60 * 1000;
/// The accuracy from which a fix by a network is too coarse to replace one by satellite navigation.
const COARSE_OVER: Milli = Milli::from_thousandths(1_000_000);
/// How long a fix by satellite navigation is preferred to a coarse one.
const FINE_FOR_MS: i64 = 24 * 60 * 60 * 1000;

/// Flags that are set on a location when it arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// It arrived more than ten minutes after the fix.
    pub late: bool,
    /// Its time or position can hardly be right; it never becomes the last location.
    pub suspect: bool,
}

/// Evaluates the time and position of a fix alone. [`JumpDetector`](super::JumpDetector) compares it with the last
/// location.
pub fn judge(fix: &Fix, received_at: Timestamp) -> Trust {
    let age_ms = received_at.as_millis() - fix.time.as_millis();
    let at_null_island = fix.latitude.as_e7() == 0 && fix.longitude.as_e7() == 0;
    Trust {
        late: age_ms > LATE_AFTER_MS,
        suspect: age_ms < -FUTURE_TOLERANCE_MS || (at_null_island && fix.valid != Some(true)),
    }
}

/// Whether a location that is not suspect becomes the last location.
///
/// It must be newer. Of two locations with the same time, the one that arrived later counts as newer.
///
/// The network that carried a message often knows only the region of the sender. Such a coarse fix does not replace one
/// by satellite navigation of the 24 hours before.
pub fn supersedes(new: &Fix, last: &Fix) -> bool {
    let age_ms = new.time.as_millis() - last.time.as_millis();
    let newer = (new.time, new.number) > (last.time, last.number);
    let hides = is_coarse(new) && is_fine(last) && age_ms < FINE_FOR_MS;
    newer && !hides
}

/// Whether a fix by a network is worse than a kilometre, or of unknown accuracy.
pub fn is_coarse(fix: &Fix) -> bool {
    matches!(fix.source, Some(FixSource::Network | FixSource::Doppler))
        && fix.accuracy.is_none_or(|accuracy| accuracy > COARSE_OVER)
}

/// Whether a fix is by satellite navigation. A fix without a source is, too.
pub(super) const fn is_fine(fix: &Fix) -> bool {
    matches!(fix.source, None | Some(FixSource::Gnss))
}

#[cfg(test)]
mod tests {
    use super::super::{Latitude, Longitude};
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_000_000_000_000);

    fn fix(after_s: i64, number: i64, source: Option<FixSource>, accuracy_m: Option<i64>) -> Fix {
        Fix {
            time: NOON.plus_seconds(after_s),
            number,
            latitude: Latitude::from_e7(1),
            longitude: Longitude::from_e7(1),
            accuracy: accuracy_m.map(|metres| Milli::from_thousandths(metres * 1000)),
            source,
            valid: None,
        }
    }

    #[test]
    fn the_newest_fix_is_the_last() {
        let last = fix(0, 5, None, None);
        assert!(supersedes(&fix(1, 1, None, None), &last));
        assert!(!supersedes(&fix(-1, 9, None, None), &last));
        assert!(supersedes(&fix(0, 6, None, None), &last));
        assert!(!supersedes(&fix(0, 5, None, None), &last));
    }

    #[test]
    fn a_coarse_fix_does_not_hide_a_fine_one_of_the_day() {
        use FixSource::{Doppler, Gnss, Manual, Network};
        const DAY_S: i64 = 86_400;
        let check = |last: Option<FixSource>, new, accuracy_m, after_s, expect| {
            let takes = supersedes(&fix(after_s, 2, new, accuracy_m), &fix(0, 1, last, None));
            assert_eq!(takes, expect, "{last:?}, {after_s} s later {new:?} within {accuracy_m:?} m");
        };
        for coarse in [Network, Doppler] {
            check(Some(Gnss), Some(coarse), Some(1_001), 1, false);
            check(None, Some(coarse), Some(1_001), DAY_S - 1, false);
            check(None, Some(coarse), None, 1, false);
            check(Some(Gnss), Some(coarse), Some(1_001), DAY_S, true);
            check(Some(Gnss), Some(coarse), Some(1_000), 1, true);
            check(Some(Network), Some(coarse), Some(9_000), 1, true);
            check(Some(Manual), Some(coarse), Some(9_000), 1, true);
        }
        check(Some(Gnss), Some(Gnss), Some(9_000), 1, true);
        check(Some(Gnss), Some(Manual), Some(9_000), 1, true);
        check(Some(Gnss), None, Some(9_000), 1, true);
    }

    #[test]
    fn doubts_the_future_and_null_island() {
        let received = Timestamp::from_millis(1_000_000_000_000);
        let check = |age_s: i64, degrees: f64, valid: Option<bool>, late: bool, suspect: bool| {
            let fix = Fix {
                time: received.plus_seconds(-age_s),
                latitude: Latitude::from_degrees(degrees).unwrap(),
                longitude: Longitude::from_degrees(degrees).unwrap(),
                valid,
                ..fix(0, 0, None, None)
            };
            assert_eq!(judge(&fix, received), Trust { late, suspect }, "{age_s} s, {degrees}°, {valid:?}");
        };
        check(0, 1.0, None, false, false);
        check(600, 1.0, None, false, false);
        check(601, 1.0, None, true, false);
        check(-600, 1.0, None, false, false);
        check(-601, 1.0, None, false, true);
        check(0, 0.0, None, false, true);
        check(0, 0.0, Some(false), false, true);
        check(0, 0.0, Some(true), false, false);
    }
}
