//! Calls by user and hour, counted in memory and added to the store every minute. A crash loses at most a minute of
//! them; they are shown as statistics and enforce no limit.

use std::collections::HashMap;

use parking_lot::Mutex;
use perigee_core::id::{AccountId, UserId};
use perigee_core::store::{Calls, HourCalls, Result};
use perigee_core::time::Timestamp;

const HOUR_MS: i64 = 3_600_000;

/// Calls that are not in the store yet.
#[derive(Debug, Default)]
pub struct HourlyCalls {
    calls: Mutex<HashMap<Key, u64>>,
}

type Key = (AccountId, UserId, bool, i64);

impl HourlyCalls {
    /// Counts a call, by token (`by_key`) or by console session.
    pub fn count(&self, account: AccountId, user: UserId, by_key: bool, now: Timestamp) {
        let hour = now.as_millis().div_euclid(HOUR_MS) * HOUR_MS;
        *self.calls.lock().entry((account, user, by_key, hour)).or_default() += 1;
    }

    /// Adds the counts to the store. After a failure they are kept for the next time.
    pub async fn save(&self, store: &dyn Calls) -> Result<()> {
        let taken = std::mem::take(&mut *self.calls.lock());
        if taken.is_empty() {
            return Ok(());
        }
        let report = |(&(account, user, by_key, hour), &calls): (&Key, &u64)| HourCalls {
            account,
            user,
            by_key,
            hour: Timestamp::from_millis(hour),
            calls,
        };
        let added = store.add_calls(taken.iter().map(report).collect()).await;
        if added.is_err() {
            let mut calls = self.calls.lock();
            for (key, count) in taken {
                *calls.entry(key).or_default() += count;
            }
        }
        added
    }
}
