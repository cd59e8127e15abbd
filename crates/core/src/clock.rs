//! Clocks: what time it is, and how much time has passed. The two are different questions, since the time of day can be
//! set back or ahead while the service runs.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use crate::time::Timestamp;

/// A reading of a clock that never goes back and is never set: only the difference between two readings of the same
/// process means anything. Everything that measures a span in memory (rate limits, caches) goes by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Monotonic(Duration);

impl Monotonic {
    /// A reading this long after the clock began.
    pub const fn from_start(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// Microseconds since the clock began.
    pub fn as_micros(self) -> i64 {
        i64::try_from(self.0.as_micros()).unwrap_or(i64::MAX)
    }

    /// How much time passed since an earlier reading; none if that one was later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The reading this much later.
    #[must_use]
    pub const fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span))
    }
}

/// Where time comes from. Everything that needs it takes a clock, so that tests can set one.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The time of day, which may jump either way when the machine's clock is set.
    fn now(&self) -> Timestamp;

    /// The reading to measure spans with.
    fn monotonic(&self) -> Monotonic;
}

/// The machine's clock as it is. It may go back: holding it would make a jump ahead last until the next start.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

/// What monotonic readings are counted from.
static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> Timestamp {
        let since_1970 = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |elapsed| i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX));
        Timestamp::from_millis(since_1970)
    }

    fn monotonic(&self) -> Monotonic {
        Monotonic(BEGUN.elapsed())
    }
}

/// A clock that stands still until it is told to move.
#[derive(Clone, Debug)]
pub struct MockClock(Arc<Readings>);

#[derive(Debug)]
struct Readings {
    now_ms: AtomicI64,
    passed_ms: AtomicI64,
}

impl MockClock {
    /// A clock standing at this instant.
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(Readings { now_ms: AtomicI64::new(now.as_millis()), passed_ms: AtomicI64::new(0) }))
    }

    /// Lets time pass until this instant. One that is earlier sets the time of day back, and no time passes.
    pub fn set(&self, now: Timestamp) {
        let before = self.0.now_ms.swap(now.as_millis(), Ordering::SeqCst);
        self.0.passed_ms.fetch_add((now.as_millis() - before).max(0), Ordering::SeqCst);
    }

    /// Lets this many seconds pass; sets the time of day back when negative.
    pub fn advance_seconds(&self, seconds: i64) {
        self.set(self.now().plus_seconds(seconds));
    }

    /// Sets the time of day ahead, or back when negative, while no time passes.
    pub fn step_seconds(&self, seconds: i64) {
        self.0.now_ms.store(self.now().plus_seconds(seconds).as_millis(), Ordering::SeqCst);
    }
}

impl Clock for MockClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.now_ms.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Monotonic {
        let passed = self.0.passed_ms.load(Ordering::SeqCst);
        Monotonic(Duration::from_millis(u64::try_from(passed).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_of_the_time_of_day_is_no_time_passing() {
        let clock = MockClock::at(Timestamp::from_millis(1_000_000));
        let begun = clock.monotonic();
        clock.step_seconds(3_600);
        assert_eq!(clock.now(), Timestamp::from_millis(4_600_000));
        assert_eq!(clock.monotonic().since(begun), Duration::ZERO);
        clock.advance_seconds(10);
        assert_eq!(clock.monotonic().since(begun), Duration::from_secs(10));
        clock.advance_seconds(-3_610);
        assert_eq!(clock.now(), Timestamp::from_millis(1_000_000));
        assert_eq!(clock.monotonic().since(begun), Duration::from_secs(10), "it never goes back");
    }

    #[test]
    fn the_machine_measures_spans() {
        let first = SystemClock.monotonic();
        let second = SystemClock.monotonic();
        assert!(first <= second);
        assert_eq!(first.since(second), Duration::ZERO);
    }
}
