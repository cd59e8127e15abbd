//! Tells who waits for something to happen in an account when to look again.

use std::time::Duration;

use perigee_core::id::AccountId;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

/// How long a look is put off at the most: what another node took is not announced here.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How soon after a look another one is worth it: a busy fleet would have everybody look all the time.
const LOOK_AFTER: Duration = Duration::from_millis(100);
/// Accounts share so many bells: who hears another account's looks once for nothing, and none needs to be forgotten.
const BELLS: usize = 64;

/// Where it is announced that something was committed: a location, an alert, a change.
#[derive(Debug)]
pub struct Arrivals {
    anywhere: watch::Sender<()>,
    accounts: [watch::Sender<()>; BELLS],
    stopping: CancellationToken,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self {
            anywhere: watch::Sender::default(),
            accounts: std::array::from_fn(|_| watch::Sender::default()),
            stopping: CancellationToken::new(),
        }
    }
}

/// A request that waits for arrivals until its time is over.
#[derive(Debug)]
pub struct Waiting {
    latest: watch::Receiver<()>,
    stopping: CancellationToken,
    deadline: Instant,
}

impl Arrivals {
    /// Says that something new was stored in this account.
    pub fn announce(&self, account: AccountId) {
        self.bell(account).send_replace(());
        self.anywhere.send_replace(());
    }

    fn bell(&self, account: AccountId) -> &watch::Sender<()> {
        let bells = i64::try_from(BELLS).unwrap_or(i64::MAX);
        let place = usize::try_from(account.as_i64().rem_euclid(bells)).unwrap_or(0);
        self.accounts.get(place).unwrap_or(&self.anywhere)
    }

    /// What changes whenever something new was stored in this account, and now and then for another one's sake.
    pub fn of_account(&self, account: AccountId) -> watch::Receiver<()> {
        self.bell(account).subscribe()
    }

    /// What changes whenever something new was stored.
    pub fn anywhere(&self) -> watch::Receiver<()> {
        self.anywhere.subscribe()
    }

    /// Cancelled when the service stops.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// Lets nobody wait any longer: the service stops.
    pub fn stop(&self) {
        self.stopping.cancel();
    }

    /// Begins to wait for this account. To be called before the first look, so that nothing arrives unnoticed between
    /// the two.
    pub fn wait_for(&self, account: AccountId, longest: Duration) -> Waiting {
        Waiting {
            latest: self.of_account(account),
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

    const ACCOUNT: AccountId = AccountId::from_i64(7);

    #[tokio::test(start_paused = true)]
    async fn waits_no_longer_than_asked_for() {
        let arrivals = Arrivals::default();
        let begun = Instant::now();
        let mut waiting = arrivals.wait_for(ACCOUNT, Duration::from_millis(2_500));
        let mut looks = 0;
        while waiting.again().await {
            looks += 1;
        }
        assert_eq!((looks, begun.elapsed()), (3, Duration::from_millis(2_500)));
        assert!(!arrivals.wait_for(ACCOUNT, Duration::ZERO).again().await);
    }

    #[tokio::test(start_paused = true)]
    async fn looks_as_soon_as_something_arrives() {
        let arrivals = Arrivals::default();
        let begun = Instant::now();
        let mut waiting = arrivals.wait_for(ACCOUNT, Duration::from_secs(30));
        arrivals.announce(ACCOUNT);
        assert!(waiting.again().await);
        assert_eq!(begun.elapsed(), LOOK_AFTER);
        assert!(waiting.again().await);
        assert_eq!(begun.elapsed(), LOOK_AFTER + LOOK_EVERY, "announced once, seen once");
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_when_the_service_stops() {
        let arrivals = Arrivals::default();
        let begun = Instant::now();
        let mut waiting = arrivals.wait_for(ACCOUNT, Duration::from_secs(30));
        arrivals.stop();
        assert!(!waiting.again().await);
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }
}
