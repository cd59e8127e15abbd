//! Detects jumps: positions that the device cannot have reached from its last location.
//!
//! A receiver that loses its satellites can place a device on another continent for one fix. Such a fix is stored as
//! suspect and does not become the last location. A location is compared only with the last location, never with its
//! neighbours in the history: so nothing has to be read, and replaying the same locations in the same order gives the
//! same result. A location older than the last location is not compared.

#[cfg(test)]
mod tests;

use super::trust::is_fine;
use super::{Fix, Latitude, Longitude, Milli, supersedes};
use crate::locations::sphere::distance_m;
use crate::time::Timestamp;

/// 1,500 km/h: faster than an airliner with the jet stream behind it.
const FASTEST_M_PER_MS: f64 = 1_500.0 / 3_600.0;
/// How far apart two fixes may be whatever the time between them: clocks are rounded, and positions scatter.
const SLACK_M: f64 = 1_000.0;
/// The most that the accuracy of a fix adds: a fix with an accuracy of half the globe would fit anywhere.
const ACCURACY_MOST_M: f64 = 50_000.0;
/// A degree of a great circle, rounded up.
const DEGREE_M: f64 = 111_200.0;
/// Stored size of an [`UnconfirmedJump`] in bytes: time, latitude, longitude, accuracy.
const JUMP_BYTES: usize = 8 + 4 + 4 + 8;

/// The state that the next location of a device is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JumpDetector {
    /// The newest location that is not suspect.
    pub last: Option<Fix>,
    /// The latest jump, in case the next location confirms it.
    pub unconfirmed: UnconfirmedJump,
}

/// An unconfirmed jump. It is remembered because a device that really moved would otherwise be suspect for hours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UnconfirmedJump(Option<Fix>);

impl JumpDetector {
    /// Evaluates a new location, which may be suspect for other reasons, and returns whether it is suspect. Locations
    /// that arrive together must be passed in the order of time and number.
    ///
    /// A jump is suspect once: if the next location is reachable from the jump, that next location becomes the last
    /// location. So a wrong last location is replaced after two correct ones.
    pub fn judge(&mut self, new: Fix, is_suspect: bool) -> bool {
        let is_jump = !is_suspect && self.is_jump(&new);
        self.follow(new, is_suspect, is_jump);
        is_suspect || is_jump
    }

    /// Updates the state with a location that was evaluated before. `for_other_reasons`: it was suspect for other
    /// reasons than a jump; `is_suspect`: it is stored as suspect, for any reason. It is not evaluated again, because
    /// the location that it was compared with may have been deleted.
    pub fn replay(&mut self, new: Fix, for_other_reasons: bool, is_suspect: bool) {
        self.follow(new, for_other_reasons, is_suspect && !for_other_reasons);
    }

    fn follow(&mut self, new: Fix, is_suspect: bool, is_jump: bool) {
        if is_jump {
            self.unconfirmed = UnconfirmedJump::of(&new);
        } else if !is_suspect {
            if self.comparable_to(&new).is_some() {
                self.unconfirmed = UnconfirmedJump::default();
            }
            if self.last.as_ref().is_none_or(|last| supersedes(&new, last)) {
                self.last = Some(new);
            }
        }
    }

    /// Whether the device cannot have got there from its last location, nor from the unconfirmed jump.
    fn is_jump(&self, new: &Fix) -> bool {
        let confirms = |jump: &Fix| new.time > jump.time && is_reachable(jump, new);
        self.comparable_to(new).is_some_and(|last| !is_reachable(last, new))
            && !self.unconfirmed.0.as_ref().is_some_and(confirms)
    }

    /// The last location, if a new one can be compared with it: positions entered by hand or estimated by a network
    /// show no movement.
    fn comparable_to(&self, new: &Fix) -> Option<&Fix> {
        self.last.as_ref().filter(|last| new.time >= last.time && is_fine(new) && is_fine(last))
    }
}

/// Whether a device can have got from one fix to the other in the time between.
fn is_reachable(from: &Fix, to: &Fix) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of the calendar fit")]
    let elapsed_ms = (to.time.as_millis() - from.time.as_millis()).max(0) as f64;
    let reach_m = FASTEST_M_PER_MS * elapsed_ms + SLACK_M + accuracy_m(from) + accuracy_m(to);
    // A cheap upper bound of the distance decides most cases: straight north, then straight east.
    let (north, east) = (
        from.latitude.as_degrees() - to.latitude.as_degrees(),
        from.longitude.as_degrees() - to.longitude.as_degrees(),
    );
    (north.abs() + east.abs()) * DEGREE_M <= reach_m || distance_m(from.position(), to.position()) <= reach_m
}

fn accuracy_m(fix: &Fix) -> f64 {
    fix.accuracy.map_or(0.0, Milli::as_f64).clamp(0.0, ACCURACY_MOST_M)
}

impl UnconfirmedJump {
    /// Keeps only the fields that are compared and stored.
    fn of(fix: &Fix) -> Self {
        let accuracy = fix.accuracy.filter(|accuracy| accuracy.as_thousandths() != 0);
        Self(Some(Fix { number: 0, source: None, valid: None, accuracy, ..*fix }))
    }

    /// The bytes it is stored as; empty if there is no jump.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Some(fix) = &self.0 else { return Vec::new() };
        let accuracy = fix.accuracy.map_or(0, Milli::as_thousandths);
        let mut bytes = Vec::with_capacity(JUMP_BYTES);
        bytes.extend(fix.time.as_millis().to_le_bytes());
        bytes.extend(fix.latitude.as_e7().to_le_bytes());
        bytes.extend(fix.longitude.as_e7().to_le_bytes());
        bytes.extend(accuracy.to_le_bytes());
        bytes
    }

    /// Reads the stored bytes; anything else is not a jump.
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
