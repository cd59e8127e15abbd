//! Limits repeated alerts: the first is sent at once, further ones at growing intervals while they continue.

use crate::time::Timestamp;

/// When one recipient was last notified of one kind of alert of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatFilter {
    /// When a message was last let through.
    pub notified_at: Timestamp,
    /// When the alert last occurred, let through or not.
    pub met_at: Timestamp,
    /// Seconds after `notified_at` before the next is let through.
    pub pause_s: u32,
}

impl RepeatFilter {
    /// The first pause in seconds.
    pub const SHORTEST_S: u32 = 120;
    /// The longest pause in seconds.
    pub const LONGEST_S: u32 = 3_600;

    /// Records the alert at `now` and returns whether it may be sent.
    ///
    /// After a silence as long as the pause, it starts again from the first pause. Times in the future come from a
    /// wrong clock and are ignored.
    #[must_use]
    pub fn record(before: Option<Self>, now: Timestamp) -> (Self, bool) {
        let afresh = Self { notified_at: now, met_at: now, pause_s: Self::SHORTEST_S };
        let Some(before) = before.filter(|before| before.notified_at <= now) else { return (afresh, true) };
        let pause = i64::from(before.pause_s);
        if now < before.notified_at.plus_seconds(pause) {
            (Self { met_at: now, ..before }, false)
        } else if now < before.met_at.plus_seconds(pause) {
            (Self { pause_s: (before.pause_s * 2).min(Self::LONGEST_S), ..afresh }, true)
        } else {
            (afresh, true)
        }
    }

    /// Whether this entry can be deleted without changing any decision.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.met_at.plus_seconds(i64::from(self.pause_s)) <= now
            && self.notified_at.plus_seconds(i64::from(self.pause_s)) <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_become_rarer_while_the_alert_repeats() {
        let start = Timestamp::from_millis(1_767_225_600_000);
        let mut state = None;
        let admitted: Vec<i64> = (0..4 * 3_600)
            .step_by(30)
            .filter(|second| {
                let (next, is_admitted) = RepeatFilter::record(state, start.plus_seconds(*second));
                state = Some(next);
                is_admitted
            })
            .collect();
        assert_eq!(admitted, [0, 120, 360, 840, 1_800, 3_720, 7_320, 10_920]);
        let quiet = start.plus_seconds(4 * 3_600 + 3_600);
        let (next, is_admitted) = RepeatFilter::record(state, quiet);
        assert!(is_admitted && next.pause_s == RepeatFilter::SHORTEST_S);
        assert!(state.is_some_and(|state| state.is_over(quiet) && !state.is_over(start)));
        let (back, is_admitted) = RepeatFilter::record(state, start);
        assert!(is_admitted && back.notified_at == start, "a clock going back silences nobody");
    }
}
