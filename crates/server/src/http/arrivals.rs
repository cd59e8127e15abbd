//! Tells requests that wait for locations when to look again.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

/// How long a look is put off at the most: what another node took is not announced here.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How soon after a look another one is worth it: a busy fleet would have everybody look all the time.
const LOOK_AFTER: Duration = Duration::from_millis(100);

/// Where arrivals are announced.
#[derive(Debug, Default)]
pub struct Arrivals {
    latest: watch::Sender<()>,
    stopping: CancellationToken,
}

/// A request that waits for arrivals until its time is over.
#[derive(Debug)]
pub struct Waiting {
    latest: watch::Receiver<()>,
    stopping: CancellationToken,
    deadline: Instant,
}

impl Arrivals {
    /// Says that something new was stored.
    pub fn announce(&self) {
        self.latest.send_replace(());
    }

    /// Lets nobody wait any longer: the service stops.
    pub fn stop(&self) {
        self.stopping.cancel();
    }

    /// Begins to wait. To be called before the first look, so that nothing arrives unnoticed between the two.
    pub fn wait(&self, longest: Duration) -> Waiting {
        Waiting {
            latest: self.latest.subscribe(),
            stopping: self.stopping.clone(),
            deadline: Instant::now() + longest,
        }
    }
}

impl Waiting {
    /// Waits until it is worth looking again; no when the time is over.
    pub async fn again(&mut self) -> bool {
        let now = Instant::now();
        if now >= self.deadline || self.stopping.is_cancelled() {
            return false;
        }
        let wait = async {
            sleep_until(self.deadline.min(now + LOOK_AFTER)).await;
            let _arrived_or_not =
                timeout_at(self.deadline.min(now + LOOK_EVERY), self.latest.changed()).await;
        };
        self.stopping.run_until_cancelled(wait).await;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waits_no_longer_than_asked_for() {
        let arrivals = Arrivals::default();
        let begun = Instant::now();
        let mut waiting = arrivals.wait(Duration::from_millis(2_500));
        let mut looks = 0;
        while waiting.again().await {
            looks += 1;
        }
        assert_eq!((looks, begun.elapsed()), (3, Duration::from_millis(2_500)));
        assert!(!arrivals.wait(Duration::ZERO).again().await);
    }

    #[tokio::test(start_paused = true)]
    async fn looks_as_soon_as_something_arrives() {
        let arrivals = Arrivals::default();
        let begun = Instant::now();
        let mut waiting = arrivals.wait(Duration::from_secs(30));
        arrivals.announce();
        assert!(waiting.again().await);
        assert_eq!(begun.elapsed(), LOOK_AFTER);
        assert!(waiting.again().await);
        assert_eq!(begun.elapsed(), LOOK_AFTER + LOOK_EVERY, "announced once, seen once");
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_when_the_service_stops() {
        let arrivals = Arrivals::default();
        let begun = Instant::now();
        let mut waiting = arrivals.wait(Duration::from_secs(30));
        arrivals.stop();
        assert!(!waiting.again().await);
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }
}
