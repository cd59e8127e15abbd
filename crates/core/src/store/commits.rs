//! The signal that a store sends after each commit, so that tasks that wait for new rows read them immediately.
//!
//! The code that adds rows marks them in its transaction, and the store sends the signal after the commit; callers of the
//! store do nothing. A transaction that is rolled back sends no signal. Commits of other nodes are not signalled, so tasks
//! that wait must also read at intervals.

use std::ops::BitOrAssign;

use tokio::sync::watch;

use crate::id::AccountId;
use crate::notifications::notification::Channel;

/// Number of signals, which accounts share, so that none has to be created or removed. A task may be woken by a commit in
/// another account; it then reads once without result.
const ACCOUNT_SIGNALS: u32 = u64::BITS;

/// A queue of the store whose rows a background job takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Notifications to be sent by this channel.
    Outbox(Channel),
    /// Recorded SOS of which nobody has been notified yet.
    RecordedSos,
    /// Texts to be handed to the providers of gateways.
    Texts,
    /// New identifiers of devices, for which earlier messages may be stored.
    Identifiers,
}

impl Queue {
    /// The queues before those of the channels.
    const OTHERS: usize = 3;

    fn count() -> usize {
        Self::OTHERS + Channel::all().len()
    }

    fn index(self) -> usize {
        match self {
            Self::RecordedSos => 0,
            Self::Identifiers => 1,
            Self::Texts => 2,
            Self::Outbox(channel) => Self::OTHERS + channel.index(),
        }
    }
}

/// Accounts and queues to which one or more transactions have added rows. A set of bits, so that marking allocates
/// nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// One bit for each signal of accounts.
    accounts: u64,
    /// One bit for each queue.
    queues: u64,
}

impl Additions {
    /// A change in this account: an event, a location, or anything else that readers of the account wait for.
    pub fn to_account(account: AccountId) -> Self {
        Self { accounts: 1 << account_signal(account), queues: 0 }
    }

    /// A row of this queue.
    pub fn to_queue(queue: Queue) -> Self {
        Self { accounts: 0, queues: 1 << queue.index() }
    }

    /// Whether nothing was added.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Whether anything was added to an account.
    pub fn has_accounts(self) -> bool {
        self.accounts != 0
    }
}

impl BitOrAssign for Additions {
    fn bitor_assign(&mut self, other: Self) {
        self.accounts |= other.accounts;
        self.queues |= other.queues;
    }
}

/// Index of the signal of an account.
fn account_signal(account: AccountId) -> u32 {
    u32::try_from(account.as_i64().rem_euclid(ACCOUNT_SIGNALS.into())).unwrap_or(0)
}

/// Signals commits to the tasks of this process that wait for them.
#[derive(Debug)]
pub struct CommitSignals {
    any_account: watch::Sender<()>,
    accounts: Vec<watch::Sender<()>>,
    queues: Vec<watch::Sender<()>>,
}

impl Default for CommitSignals {
    fn default() -> Self {
        Self {
            any_account: watch::Sender::default(),
            accounts: (0..ACCOUNT_SIGNALS).map(|_| watch::Sender::default()).collect(),
            queues: (0..Queue::count()).map(|_| watch::Sender::default()).collect(),
        }
    }
}

impl CommitSignals {
    /// Wakes all tasks that wait for these additions. Must be called after the commit.
    pub fn send(&self, additions: Additions) {
        let is_set = |bits: u64, index: usize| (bits >> index) & 1 == 1;
        if additions.has_accounts() {
            for (_, signal) in
                self.accounts.iter().enumerate().filter(|(index, _)| is_set(additions.accounts, *index))
            {
                signal.send_replace(());
            }
            self.any_account.send_replace(());
        }
        let queues = self.queues.iter().enumerate();
        for (_, signal) in queues.filter(|(index, _)| is_set(additions.queues, *index)) {
            signal.send_replace(());
        }
    }

    /// Changes after each commit in this account, or in an account that shares its signal.
    pub fn of_account(&self, account: AccountId) -> watch::Receiver<()> {
        let index = usize::try_from(account_signal(account)).unwrap_or(0);
        self.accounts.get(index).unwrap_or(&self.any_account).subscribe()
    }

    /// Changes after each commit in any account.
    pub fn of_any_account(&self) -> watch::Receiver<()> {
        self.any_account.subscribe()
    }

    /// Changes after each commit that adds to this queue.
    pub fn of_queue(&self, queue: Queue) -> watch::Receiver<()> {
        self.queues.get(queue.index()).unwrap_or(&self.any_account).subscribe()
    }
}

/// A store that signals its commits.
pub trait Commits: Send + Sync {
    /// The signals of commits of this process.
    fn commit_signals(&self) -> &CommitSignals;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_changed(receiver: &mut watch::Receiver<()>) -> bool {
        let changed = receiver.has_changed().unwrap();
        receiver.mark_unchanged();
        changed
    }

    #[test]
    fn only_those_are_woken_for_whom_something_was_added() {
        let signals = CommitSignals::default();
        let [one, other] = [1, 2].map(AccountId::from_i64);
        let mut receivers = [
            signals.of_account(one),
            signals.of_account(other),
            signals.of_any_account(),
            signals.of_queue(Queue::Outbox(Channel::EMAIL)),
            signals.of_queue(Queue::Outbox(Channel::SMS)),
            signals.of_queue(Queue::RecordedSos),
            signals.of_queue(Queue::Identifiers),
        ];
        let mut check = |additions, expect: [bool; 7]| {
            signals.send(additions);
            assert_eq!(receivers.each_mut().map(has_changed), expect, "{additions:?}");
        };
        check(Additions::default(), [false; 7]);
        check(Additions::to_account(one), [true, false, true, false, false, false, false]);
        let sms = Additions::to_queue(Queue::Outbox(Channel::SMS));
        check(sms, [false, false, false, false, true, false, false]);
        let mut several = Additions::to_account(other);
        several |= Additions::to_queue(Queue::RecordedSos);
        check(several, [false, true, true, false, false, true, false]);
    }
}
