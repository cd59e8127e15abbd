//! Tells who waits for something to happen in an account when to look again.

use perigee_core::id::AccountId;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

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
}
