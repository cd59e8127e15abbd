//! Detects steps of the store's clock, also across restarts, so that a wrong clock deletes nothing by age.

use std::time::Duration;

use crate::time::Timestamp;

/// Differences between time of day and time passed up to this are not a step: clocks are adjusted, and a restart
/// takes some time.
const SLACK_MS: i64 = 10 * 60 * 1000;
/// Going back by up to this is an adjustment, not a step.
const ADJUSTED_MS: i64 = 1_000;
/// How long the service must run after a step ahead before the new time is trusted. After a smaller step it is only
/// as long as the step.
const CONFIRM_MS: i64 = 24 * 60 * 60 * 1000;

/// State of the clock watch. Kept in the store and shared by all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockWatch {
    /// Time of day at the last reading.
    pub seen: Timestamp,
    /// The time used to decide what is old enough to delete: the last reading, or an earlier time after a step ahead
    /// that is not confirmed yet.
    pub believed: Timestamp,
    /// How far the clock was ahead of `believed` after the last step, in milliseconds; 0 if the time is trusted.
    pub jump_ms: i64,
    /// How long the service has run since that step, in milliseconds.
    pub run_ms: i64,
}

/// The result of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockStep {
    /// The clock runs as fast as the monotonic one.
    None,
    /// The clock was set ahead, or the service did not run.
    Ahead {
        /// Size of the step in milliseconds.
        by_ms: i64,
    },
    /// The clock was set back.
    Back {
        /// Size of the step in milliseconds, at least.
        by_ms: i64,
    },
    /// The service has run long enough since a step ahead; the time is trusted again.
    Confirmed,
}

impl ClockWatch {
    /// The state after the first reading.
    pub const fn begin(now: Timestamp) -> Self {
        Self { seen: now, believed: now, jump_ms: 0, run_ms: 0 }
    }

    /// Takes a reading. `elapsed` is the monotonic time since the reading before; after a restart, since the start.
    pub fn read(&mut self, now: Timestamp, elapsed: Duration) -> ClockStep {
        let elapsed_ms = i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX);
        let gap_ms = now.as_millis() - self.seen.as_millis();
        self.seen = now;
        if gap_ms < -ADJUSTED_MS {
            self.believed = self.believed.min(now);
            self.set_jump(now);
            return ClockStep::Back { by_ms: -gap_ms };
        }
        let gap_ms = gap_ms.max(0);
        if gap_ms > elapsed_ms.saturating_add(SLACK_MS) {
            self.believed = self.believed.plus_millis(elapsed_ms).min(now);
            self.run_ms = 0;
            self.set_jump(now);
            return ClockStep::Ahead { by_ms: gap_ms - elapsed_ms };
        }
        if self.jump_ms == 0 {
            self.believed = now;
            return ClockStep::None;
        }
        self.run_ms = self.run_ms.saturating_add(gap_ms);
        self.believed = self.believed.plus_millis(gap_ms).min(now);
        if self.run_ms < self.jump_ms.min(CONFIRM_MS) {
            return ClockStep::None;
        }
        *self = Self::begin(now);
        ClockStep::Confirmed
    }

    /// Milliseconds the service must still run until the time is trusted again.
    pub fn confirmed_in_ms(&self) -> i64 {
        (self.jump_ms.min(CONFIRM_MS) - self.run_ms).max(0)
    }

    /// Sets `jump_ms` after a step. A difference within the slack is trusted at once.
    fn set_jump(&mut self, now: Timestamp) {
        self.jump_ms = now.as_millis() - self.believed.as_millis();
        if self.jump_ms <= SLACK_MS {
            *self = Self::begin(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);
    const MINUTE: Duration = Duration::from_mins(1);
    const HOUR_S: i64 = 3_600;
    const DAY_S: i64 = 24 * HOUR_S;

    /// Reads once a minute while the time of day continues from an instant; returns the last step that was reported.
    fn run(watch: &mut ClockWatch, from: Timestamp, minutes: i64) -> ClockStep {
        let steps = (1..=minutes).map(|minute| watch.read(from.plus_seconds(minute * 60), MINUTE));
        steps.filter(|step| *step != ClockStep::None).last().unwrap_or(ClockStep::None)
    }

    #[test]
    fn time_that_passes_is_believed() {
        let mut watch = ClockWatch::begin(START);
        let later = START.plus_seconds(30 * DAY_S);
        assert_eq!(watch.read(later, Duration::from_hours(30 * 24)), ClockStep::None);
        assert_eq!(watch, ClockWatch::begin(later));
        assert_eq!(watch.read(later.plus_seconds(600), Duration::ZERO), ClockStep::None, "a restart");
    }

    #[test]
    fn a_step_ahead_is_believed_after_a_day() {
        let mut watch = ClockWatch::begin(START);
        let ahead = START.plus_seconds(30 * DAY_S);
        assert_eq!(watch.read(ahead, MINUTE), ClockStep::Ahead { by_ms: 30 * DAY_S * 1_000 - 60_000 });
        assert_eq!(watch.believed, START.plus_seconds(60));
        assert_eq!(run(&mut watch, ahead, 24 * 60 - 1), ClockStep::None);
        assert_eq!(watch.believed, START.plus_seconds(DAY_S), "only time that passed is believed");
        assert_eq!(watch.confirmed_in_ms(), 60_000);
        let seen = watch.seen;
        assert_eq!(run(&mut watch, seen, 1), ClockStep::Confirmed);
        assert_eq!(watch.believed, watch.seen);
    }

    #[test]
    fn a_short_rest_is_believed_soon() {
        let mut watch = ClockWatch::begin(START);
        let ahead = START.plus_seconds(HOUR_S);
        assert!(matches!(watch.read(ahead, Duration::ZERO), ClockStep::Ahead { .. }));
        assert_eq!(run(&mut watch, ahead, 59), ClockStep::None);
        let seen = watch.seen;
        assert_eq!(run(&mut watch, seen, 1), ClockStep::Confirmed);
    }

    #[test]
    fn a_clock_set_right_ends_the_doubt() {
        let mut watch = ClockWatch::begin(START);
        let ahead = START.plus_seconds(3 * DAY_S);
        watch.read(ahead, MINUTE);
        run(&mut watch, ahead, 60);
        let right = START.plus_seconds(62 * 60);
        assert_eq!(watch.read(right, MINUTE), ClockStep::Back { by_ms: 3 * DAY_S * 1_000 - 120_000 });
        assert_eq!(watch, ClockWatch::begin(right));
    }

    #[test]
    fn a_clock_set_back_is_followed() {
        let mut watch = ClockWatch::begin(START);
        let back = START.plus_seconds(-DAY_S);
        assert_eq!(watch.read(back, MINUTE), ClockStep::Back { by_ms: DAY_S * 1_000 });
        assert_eq!(watch, ClockWatch::begin(back));
        assert!(
            matches!(watch.read(START, MINUTE), ClockStep::Ahead { .. }),
            "set right, it is ahead at first"
        );
        assert_eq!(watch.believed, back.plus_seconds(60));
    }
}
