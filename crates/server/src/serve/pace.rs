//! Measures how fast a peer sends or reads bytes, counting only the time spent waiting for it.

use std::time::Duration;

use tokio::time::Instant;

const SLOTS: u8 = 8;

/// The minimum number of bytes in a window of waiting.
#[derive(Debug, Clone, Copy)]
pub(super) struct PaceLimit {
    slot: Duration,
    minimum_bytes: u64,
}

impl PaceLimit {
    /// At least `bytes_per_s` over every `window` of waiting.
    pub(super) fn new(window: Duration, bytes_per_s: u32) -> Self {
        let slot = (window / u32::from(SLOTS)).max(Duration::from_millis(1));
        let millis = u64::try_from(window.as_millis()).unwrap_or(u64::MAX);
        // Rounded up: a rate above zero means at least one byte.
        let minimum_bytes = u64::from(bytes_per_s).saturating_mul(millis).div_ceil(1000);
        Self { slot, minimum_bytes }
    }

    /// How often a pace under this limit has to be checked.
    pub(super) fn tick(&self) -> Duration {
        self.slot
    }
}

/// The bytes moved in the last window of waiting, in slots so that the window slides: after a burst the peer may be
/// silent for one window at most.
#[derive(Debug)]
pub(super) struct Pace {
    limit: PaceLimit,
    slots: [u64; SLOTS as usize],
    current: u8,
    complete: u8,
    waited_in_slot: Duration,
    waiting_since: Option<Instant>,
    still_since: Option<Instant>,
    too_slow: bool,
}

impl Pace {
    pub(super) fn new(limit: PaceLimit) -> Self {
        Self {
            limit,
            slots: [0; SLOTS as usize],
            current: 0,
            complete: 0,
            waited_in_slot: Duration::ZERO,
            waiting_since: None,
            still_since: None,
            too_slow: false,
        }
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.waiting_since.is_some()
    }

    /// The service begins to wait for the peer.
    pub(super) fn wait(&mut self, now: Instant) {
        self.waiting_since.get_or_insert(now);
        self.still_since.get_or_insert(now);
    }

    /// Since when the peer has moved no byte.
    pub(super) fn still_since(&self) -> Option<Instant> {
        self.still_since
    }

    /// The service no longer waits for the peer.
    pub(super) fn stop_waiting(&mut self, now: Instant) {
        self.count_waiting(now);
        self.waiting_since = None;
        self.still_since = None;
    }

    /// The peer moved `bytes`.
    pub(super) fn moved(&mut self, bytes: usize, now: Instant) {
        self.count_waiting(now);
        self.still_since = self.waiting_since;
        let slot = &mut self.slots[usize::from(self.current)];
        *slot = slot.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    /// Whether the peer moved too few bytes in a whole window.
    pub(super) fn is_too_slow(&mut self, now: Instant) -> bool {
        self.count_waiting(now);
        self.too_slow
    }

    /// The further time of waiting after which `is_too_slow` may change.
    pub(super) fn next_verdict_in(&self) -> Duration {
        let slots = SLOTS.saturating_sub(self.complete).max(1);
        (self.limit.slot * u32::from(slots)).saturating_sub(self.waited_in_slot)
    }

    fn count_waiting(&mut self, now: Instant) {
        let Some(since) = self.waiting_since else { return };
        self.waited_in_slot += now.saturating_duration_since(since);
        self.waiting_since = Some(now);
        // One round is enough: after that every slot is empty.
        for _ in 0..SLOTS {
            if self.waited_in_slot < self.limit.slot {
                return;
            }
            self.waited_in_slot -= self.limit.slot;
            self.finish_slot();
        }
        self.waited_in_slot = Duration::ZERO;
    }

    fn finish_slot(&mut self) {
        self.complete = (self.complete + 1).min(SLOTS);
        if self.complete == SLOTS {
            let moved = self.slots.iter().fold(0u64, |sum, slot| sum.saturating_add(*slot));
            self.too_slow = moved < self.limit.minimum_bytes;
        }
        self.current = (self.current + 1) % SLOTS;
        self.slots[usize::from(self.current)] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT_BYTES_PER_S: u32 = 1000;

    /// Lets a peer move `moves(second)` bytes in each second of waiting, and returns the second in which it was found
    /// too slow.
    fn caught_after(moves: impl Fn(u32) -> usize, seconds: u32) -> Option<u32> {
        let mut pace = Pace::new(PaceLimit::new(Duration::from_secs(8), LIMIT_BYTES_PER_S));
        let start = Instant::now();
        pace.wait(start);
        (1..=seconds).find(|second| {
            let now = start + Duration::from_secs(u64::from(*second));
            pace.moved(moves(*second), now);
            pace.is_too_slow(now)
        })
    }

    #[test]
    fn a_peer_below_the_rate_is_caught_after_one_window() {
        assert_eq!(caught_after(|_| 0, 100), Some(8));
        assert_eq!(caught_after(|_| 1, 100), Some(8));
        assert_eq!(caught_after(|_| 900, 100), Some(8));
    }

    #[test]
    fn a_peer_above_the_rate_is_never_caught() {
        assert_eq!(caught_after(|_| 1200, 1000), None);
        assert_eq!(caught_after(|second| if second % 4 == 1 { 5000 } else { 0 }, 1000), None);
    }

    #[test]
    fn after_a_burst_a_silent_peer_is_caught_one_window_and_a_slot_later() {
        let caught = caught_after(|second| if second == 3 { 1_000_000 } else { 0 }, 100);
        assert_eq!(caught, Some(3 + 9));
    }

    #[test]
    fn only_time_spent_waiting_counts() {
        let mut pace = Pace::new(PaceLimit::new(Duration::from_secs(8), LIMIT_BYTES_PER_S));
        let mut now = Instant::now();
        for _ in 0..7 {
            pace.wait(now);
            now += Duration::from_secs(1);
            pace.stop_waiting(now);
            now += Duration::from_hours(1);
            assert!(!pace.is_too_slow(now));
        }
        pace.wait(now);
        assert_eq!(pace.next_verdict_in(), Duration::from_secs(1));
        assert!(pace.is_too_slow(now + Duration::from_secs(1)));
    }

    #[test]
    fn a_verdict_long_overdue_is_still_one_verdict() {
        let mut pace = Pace::new(PaceLimit::new(Duration::from_secs(8), LIMIT_BYTES_PER_S));
        let start = Instant::now();
        pace.wait(start);
        assert!(pace.is_too_slow(start + Duration::from_hours(1)));
    }

    #[test]
    fn without_a_rate_nobody_is_too_slow() {
        let mut pace = Pace::new(PaceLimit::new(Duration::from_secs(8), 0));
        let start = Instant::now();
        pace.wait(start);
        assert!(!pace.is_too_slow(start + Duration::from_hours(1)));
    }
}
