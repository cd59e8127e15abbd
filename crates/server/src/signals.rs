//! Wakes tasks that wait for a commit in an account, and tells them when the service stops.

use perigee_core::id::AccountId;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Accounts share this many channels, so that none has to be created or removed. A task may be woken by a commit in
/// another account; it reads the log once for nothing.
const CHANNELS: usize = 64;

/// Announces commits (a location, an alert, any change) and the end of the service.
#[derive(Debug)]
pub struct Signals {
    any_account: watch::Sender<()>,
    accounts: [watch::Sender<()>; CHANNELS],
    stopping: CancellationToken,
}

impl Default for Signals {
    fn default() -> Self {
        Self {
            any_account: watch::Sender::default(),
            accounts: std::array::from_fn(|_| watch::Sender::default()),
            stopping: CancellationToken::new(),
        }
    }
}

impl Signals {
    /// Announces a commit in this account.
    pub fn announce(&self, account: AccountId) {
        self.channel(account).send_replace(());
        self.any_account.send_replace(());
    }

    fn channel(&self, account: AccountId) -> &watch::Sender<()> {
        let channels = i64::try_from(CHANNELS).unwrap_or(i64::MAX);
        let index = usize::try_from(account.as_i64().rem_euclid(channels)).unwrap_or(0);
        self.accounts.get(index).unwrap_or(&self.any_account)
    }

    /// Changes after each commit in this account, and after some commits in accounts that share its channel.
    pub fn of_account(&self, account: AccountId) -> watch::Receiver<()> {
        self.channel(account).subscribe()
    }

    /// Changes after each commit in any account.
    pub fn any_account(&self) -> watch::Receiver<()> {
        self.any_account.subscribe()
    }

    /// Cancelled when the service stops.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// Tells every waiting task that the service stops.
    pub fn stop(&self) {
        self.stopping.cancel();
    }
}
