//! Caches the compiled rules of accounts, limited by the memory they take.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use perigee_core::id::AccountId;
use perigee_core::rules::rule::RuleSet;
use perigee_core::time::Monotonic;

/// Bytes of all cached sets together, at most.
const BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes from which on a set counts as large.
const LARGE: usize = 1024 * 1024;
/// How long a large set is not compiled again, so that an account that changes its rules all the time does not keep a
/// core busy. Its locations are evaluated later.
const LARGE_PAUSE: Duration = Duration::from_secs(1);

/// The cached rules of an account.
#[derive(Debug)]
pub(super) enum Known {
    /// The set at the wanted revision.
    Current(Arc<RuleSet>),
    /// The rules must be loaded and compiled.
    Outdated,
    /// The rules must be compiled, but were compiled a moment ago and are large.
    TooSoon,
}

/// The compiled rules of accounts.
#[derive(Debug, Default)]
pub(super) struct RuleSets(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The sets with the bytes they take.
    sets: HashMap<AccountId, (Arc<RuleSet>, usize)>,
    /// When the last large set of an account was compiled. Entries are removed after [`LARGE_PAUSE`].
    large: HashMap<AccountId, Monotonic>,
    bytes: usize,
}

impl RuleSets {
    /// The rules of an account at this revision. Outdated ones are removed, so that their memory is free before new
    /// ones are compiled.
    pub(super) fn find(&self, account: AccountId, revision: i64, now: Monotonic) -> Known {
        let mut state = self.0.lock();
        if let Some((set, _)) = state.sets.get(&account).filter(|(set, _)| set.revision == revision) {
            return Known::Current(Arc::clone(set));
        }
        state.large.retain(|_, compiled_at| now.since(*compiled_at) < LARGE_PAUSE);
        if state.large.contains_key(&account) {
            return Known::TooSoon;
        }
        state.remove(account);
        Known::Outdated
    }

    /// Caches a set that was just compiled. The largest of the others are removed first when there is no room.
    pub(super) fn insert(&self, account: AccountId, set: Arc<RuleSet>, now: Monotonic) {
        let mut state = self.0.lock();
        state.remove(account);
        let bytes = set.bytes();
        if bytes >= LARGE {
            state.large.insert(account, now);
        }
        while state.bytes + bytes > BYTES_MAX
            && let Some(largest) =
                state.sets.iter().max_by_key(|(_, (_, bytes))| *bytes).map(|(account, _)| *account)
        {
            state.remove(largest);
        }
        state.bytes += bytes;
        state.sets.insert(account, (set, bytes));
    }
}

impl State {
    fn remove(&mut self, account: AccountId) {
        if let Some((_, bytes)) = self.sets.remove(&account) {
            self.bytes -= bytes;
        }
    }
}

#[cfg(test)]
mod tests;
