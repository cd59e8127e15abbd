//! Where a device is believed to be, moved on by each new location, and jumps that can hardly be.
//!
//! A receiver that loses its satellites can place a device on another continent for one fix. Such a fix is kept but
//! flagged, and does not become the last location. Judged is only what a single pass can know: a location is compared
//! with the last one that was believed, never with its neighbours in the history, so that the same locations in the
//! same order are judged alike whenever they are replayed, and nothing has to be read for it. What is older than the
//! last location is therefore not compared at all: what lay around it then is not at hand, and it moves nothing.

#[cfg(test)]
mod tests;

use super::trust::is_fine;
use super::{Fix, Latitude, Longitude, Milli, supersedes};
use crate::sphere::distance_m;
use crate::time::Timestamp;

/// Faster than any airliner with the jet stream behind it.
const FASTEST_M_PER_MS: f64 = 1_500.0 / 3_600.0;
/// How far apart two fixes may be whatever the time between them: clocks are rounded, and receivers wander.
const SLACK_M: f64 = 1_000.0;
/// The most that a fix's own accuracy adds to it: what says it may be anywhere would be believed anywhere.
const ACCURACY_MOST_M: f64 = 50_000.0;
/// A degree of a great circle, rounded up.
const DEGREE_M: f64 = 111_200.0;
/// Bytes of a doubt: time, latitude, longitude, accuracy.
const DOUBT_BYTES: usize = 8 + 4 + 4 + 8;

/// What decides about a device's next location.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Whereabouts {
    /// The newest location that was believed.
    pub last: Option<Fix>,
    /// The jump that was not, in case the next location confirms it.
    pub doubt: Doubt,
}

/// A jump that was not believed: without it a device that really moved would not be believed for hours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Doubt(Option<Fix>);

impl Whereabouts {
    /// Judges a new location, of which it is known whether it is suspect by itself, and moves on; says whether it is
    /// suspect. Those that arrive together come in the order of time and number.
    ///
    /// A jump is doubted once: when the next location fits it, the device is where they both say, and this one is
    /// believed. One bad location, even one that was believed, is thus outvoted by the next two.
    pub fn see(&mut self, new: Fix, is_suspect: bool) -> bool {
        let is_jump = !is_suspect && self.is_jump(&new);
        self.follow(new, is_suspect, is_jump);
        is_suspect || is_jump
    }

    /// Moves on by a location that was judged before: suspect by itself, and suspect after all. It is not judged anew,
    /// since what it was compared with may be gone.
    pub fn recall(&mut self, new: Fix, by_itself: bool, is_suspect: bool) {
        self.follow(new, by_itself, is_suspect && !by_itself);
    }

    fn follow(&mut self, new: Fix, is_suspect: bool, is_jump: bool) {
        if is_jump {
            self.doubt = Doubt::of(&new);
        } else if !is_suspect {
            if self.comparable_to(&new).is_some() {
                self.doubt = Doubt::default();
            }
            if self.last.as_ref().is_none_or(|last| supersedes(&new, last)) {
                self.last = Some(new);
            }
        }
    }

    /// Whether the device can hardly have got there, and so far nothing else says that it did.
    fn is_jump(&self, new: &Fix) -> bool {
        let confirms = |doubted: &Fix| new.time > doubted.time && is_reachable(doubted, new);
        self.comparable_to(new).is_some_and(|last| !is_reachable(last, new))
            && !self.doubt.0.as_ref().is_some_and(confirms)
    }

    /// The last location, if this one can be compared with it: a place set by hand, or guessed by a network, is no
    /// movement.
    fn comparable_to(&self, new: &Fix) -> Option<&Fix> {
        self.last.as_ref().filter(|last| new.time >= last.time && is_fine(new) && is_fine(last))
    }
}

/// Whether a device can have got from the one place to the other in the time between.
fn is_reachable(from: &Fix, to: &Fix) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of the calendar fit")]
    let elapsed_ms = (to.time.as_millis() - from.time.as_millis()).max(0) as f64;
    let reach_m = FASTEST_M_PER_MS * elapsed_ms + SLACK_M + accuracy_m(from) + accuracy_m(to);
    // Ordinarily the device is near: then going straight north and straight east is short enough, too.
    let (north, east) = (
        from.latitude.as_degrees() - to.latitude.as_degrees(),
        from.longitude.as_degrees() - to.longitude.as_degrees(),
    );
    (north.abs() + east.abs()) * DEGREE_M <= reach_m || distance_m(from.position(), to.position()) <= reach_m
}

fn accuracy_m(fix: &Fix) -> f64 {
    fix.accuracy.map_or(0.0, Milli::as_f64).clamp(0.0, ACCURACY_MOST_M)
}

impl Doubt {
    /// Of a fix only what is compared, and what its bytes can tell.
    fn of(fix: &Fix) -> Self {
        let accuracy = fix.accuracy.filter(|accuracy| accuracy.as_thousandths() != 0);
        Self(Some(Fix { number: 0, source: None, valid: None, accuracy, ..*fix }))
    }

    /// The bytes it is kept as; none when there is no doubt.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Some(fix) = &self.0 else { return Vec::new() };
        let accuracy = fix.accuracy.map_or(0, Milli::as_thousandths);
        let mut bytes = Vec::with_capacity(DOUBT_BYTES);
        bytes.extend(fix.time.as_millis().to_le_bytes());
        bytes.extend(fix.latitude.as_e7().to_le_bytes());
        bytes.extend(fix.longitude.as_e7().to_le_bytes());
        bytes.extend(accuracy.to_le_bytes());
        bytes
    }

    /// What the bytes tell; others than ours tell of no doubt.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(Self::read(bytes))
    }

    fn read(bytes: &[u8]) -> Option<Fix> {
        let (time, rest) = bytes.split_first_chunk::<8>()?;
        let (latitude, rest) = rest.split_first_chunk::<4>()?;
        let (longitude, accuracy) = rest.split_first_chunk::<4>()?;
        let accuracy = i64::from_le_bytes(accuracy.try_into().ok()?);
        Some(Fix {
            time: Timestamp::from_millis(i64::from_le_bytes(*time)),
            number: 0,
            latitude: Latitude::from_e7(i32::from_le_bytes(*latitude)),
            longitude: Longitude::from_e7(i32::from_le_bytes(*longitude)),
            accuracy: (accuracy != 0).then(|| Milli::from_thousandths(accuracy)),
            source: None,
            valid: None,
        })
    }
}
