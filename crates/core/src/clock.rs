//! Clocks: the time of day, and the time that has passed. They differ because the time of day can be set while the
//! service runs.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use crate::time::Timestamp;

/// A reading of a monotonic clock. Only the difference between two readings of one process has a meaning. Rate limits
/// and caches, which measure spans in memory, use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Monotonic(Duration);

impl Monotonic {
    /// A reading this long after the clock's origin.
    pub const fn from_start(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// Microseconds since the clock's origin.
    pub fn as_micros(self) -> i64 {
        i64::try_from(self.0.as_micros()).unwrap_or(i64::MAX)
    }

    /// The time passed since an earlier reading; zero if that one is later.
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

/// The source of time. Code takes a clock instead of asking the system, so that tests can set it.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The time of day, which may jump either way when the machine's clock is set.
    fn now(&self) -> Timestamp;

    /// A reading for measuring spans.
    fn monotonic(&self) -> Monotonic;
}

/// The machine's clock, unchanged. It may go back: clamping it would make a wrong jump ahead last until the next
/// start.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

/// Origin of monotonic readings. Nothing depends on when it was, because only differences are used.
static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the only function that reads the machine's clock")]
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

/// A clock for tests; it moves only when a test moves it.
#[derive(Clone, Debug)]
pub struct MockClock(Arc<Readings>);

#[derive(Debug)]
struct Readings {
    now_ms: AtomicI64,
    passed_ms: AtomicI64,
}

impl MockClock {
    /// A clock that shows this instant.
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(Readings { now_ms: AtomicI64::new(now.as_millis()), passed_ms: AtomicI64::new(0) }))
    }

    /// Moves the clock to this instant. An earlier instant sets the time of day back while no monotonic time passes.
    pub fn set(&self, now: Timestamp) {
        let before = self.0.now_ms.swap(now.as_millis(), Ordering::SeqCst);
        self.0.passed_ms.fetch_add((now.as_millis() - before).max(0), Ordering::SeqCst);
    }

    /// Moves the clock by this many seconds; see [`Self::set`] for negative numbers.
    pub fn advance_seconds(&self, seconds: i64) {
        self.set(self.now().plus_seconds(seconds));
    }

    /// Steps the time of day, either way, while no monotonic time passes.
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
