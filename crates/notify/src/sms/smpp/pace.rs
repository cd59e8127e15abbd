//! A rate limit: message centres refuse, or disconnect, clients that send too fast.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

/// Spaces messages evenly in time.
pub(super) struct Pace {
    gap: Duration,
    next: Mutex<Option<Instant>>,
}

impl Pace {
    /// Makes a limit in messages per second; 0 for no limit.
    pub(super) fn new(per_second: u32) -> Self {
        let gap = if per_second == 0 { Duration::ZERO } else { Duration::from_secs(1) / per_second };
        Self { gap, next: Mutex::new(None) }
    }

    /// Waits until the next message may be sent.
    pub(super) async fn wait(&self) {
        if self.gap.is_zero() {
            return;
        }
        let mine = {
            let mut next = self.next.lock().await;
            let mine = next.unwrap_or_else(Instant::now).max(Instant::now());
            *next = Some(mine + self.gap);
            mine
        };
        sleep_until(mine).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn messages_keep_their_distance() {
        let pace = Pace::new(10);
        let started = Instant::now();
        for _ in 0..11 {
            pace.wait().await;
        }
        assert_eq!(started.elapsed().as_millis() / 10, 100);
        Pace::new(0).wait().await;
    }
}
