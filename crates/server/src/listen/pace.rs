//! Limits the rate of frames of one connection: further frames are read later, which slows down only their sender.

use std::time::Duration;

use tokio::time::Instant;

/// Frames per second on average. A tracker that empties its memory after an outage sends a few hundred at a time.
const FRAMES_PER_S: u32 = 200;
/// Frames in a burst.
const BURST: u32 = 2_000;

/// The allowance of one connection.
#[derive(Debug)]
pub(super) struct Pace {
    /// When the whole burst is available again.
    full_at: Instant,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { full_at: now }
    }

    /// Counts frames, and returns how long to wait before more are read.
    pub(super) fn count(&mut self, frames: usize, now: Instant) -> Option<Duration> {
        let frames = u32::try_from(frames).unwrap_or(u32::MAX);
        let cost = Duration::from_secs(1).saturating_mul(frames) / FRAMES_PER_S;
        self.full_at = self.full_at.max(now) + cost;
        let burst = Duration::from_secs(1) * BURST / FRAMES_PER_S;
        let ahead = self.full_at.saturating_duration_since(now);
        ahead.checked_sub(burst).filter(|wait| !wait.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_free_and_a_flood_is_slowed_down() {
        let begin = Instant::now();
        let mut pace = Pace::new(begin);
        assert_eq!(pace.count(2_000, begin), None);
        assert_eq!(pace.count(200, begin), Some(Duration::from_secs(1)));
        assert_eq!(pace.count(0, begin + Duration::from_secs(1)), None);
        assert_eq!(pace.count(1_000, begin + Duration::from_mins(1)), None);
    }
}
