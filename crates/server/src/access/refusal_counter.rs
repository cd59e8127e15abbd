//! Refusals for the audit log: counted in memory, saved every few seconds, one entry for each kind and hour.

use std::collections::HashMap;

use parking_lot::Mutex;
use perigee_core::access::audit::Refusals;
use perigee_core::id::AccountId;
use perigee_core::store::{Audits, Result};
use perigee_core::time::Timestamp;

/// Maximum number of kinds in memory. Rate limits keep the number far below this unless the store is unavailable for
/// long.
const MOST_KINDS: usize = 10_000;
/// The kind under which refusals are counted once memory is full.
const OTHER: &str = "other";

/// Refusals that are not in the store yet.
#[derive(Debug, Default)]
pub struct RefusalCounter(Mutex<HashMap<Key, Refusals>>);

/// The account, the start of the hour and the kind.
type Key = (AccountId, Timestamp, String);

impl RefusalCounter {
    /// Adds one or more refusals of one kind.
    pub fn add(&self, refusals: Refusals) {
        let mut held = self.0.lock();
        let hour = Refusals::hour_of(refusals.first_at);
        let mut key = (refusals.account, hour, refusals.kind.clone());
        let mut refusals = refusals;
        if held.len() >= MOST_KINDS && !held.contains_key(&key) {
            OTHER.clone_into(&mut key.2);
            OTHER.clone_into(&mut refusals.kind);
            refusals.target = None;
        }
        match held.get_mut(&key) {
            Some(known) => {
                known.count += refusals.count;
                known.last_at = known.last_at.max(refusals.last_at);
            }
            None => drop(held.insert(key, refusals)),
        }
    }

    /// Adds the counts to the store. After a failure they are kept for the next time.
    pub async fn save(&self, store: &dyn Audits) -> Result<()> {
        let taken = std::mem::take(&mut *self.0.lock());
        let mut by_account: HashMap<AccountId, Vec<Refusals>> = HashMap::new();
        for refusals in taken.into_values() {
            by_account.entry(refusals.account).or_default().push(refusals);
        }
        let mut saved = Ok(());
        for (account, mut refusals) in by_account {
            // IDs of audit entries must increase with time.
            refusals.sort_by_key(|each| each.first_at);
            if let Err(error) = store.add_refusals(account, refusals.clone()).await {
                for each in refusals {
                    self.add(each);
                }
                saved = Err(error);
            }
        }
        saved
    }
}

#[cfg(test)]
mod tests {
    use perigee_core::access::actor::Origin;

    use super::*;

    fn refusal(account: i64, kind: &str, at_ms: i64) -> Refusals {
        Refusals {
            account: AccountId::from_i64(account),
            kind: kind.to_owned(),
            origin: Origin::service(),
            action: "request.denied".to_owned(),
            target: Some(format!("at {at_ms}")),
            detail: None,
            count: 1,
            first_at: Timestamp::from_millis(at_ms),
            last_at: Timestamp::from_millis(at_ms),
        }
    }

    #[test]
    fn a_kind_is_one_entry_an_hour() {
        let counter = RefusalCounter::default();
        for (account, kind, at) in
            [(1, "a", 0), (1, "a", 5), (1, "a", 3_599_999), (1, "a", 3_600_000), (1, "b", 1), (2, "a", 2)]
        {
            counter.add(refusal(account, kind, at));
        }
        let held = counter.0.lock();
        assert_eq!(held.len(), 4);
        let first = &held[&(AccountId::from_i64(1), Timestamp::from_millis(0), "a".to_owned())];
        assert_eq!((first.count, first.last_at.as_millis()), (3, 3_599_999));
        assert_eq!(first.target.as_deref(), Some("at 0"), "the first is recorded in full");
    }

    #[test]
    fn memory_is_bounded_and_nothing_goes_uncounted() {
        let counter = RefusalCounter::default();
        for number in 0..MOST_KINDS + 500 {
            counter.add(refusal(1, &number.to_string(), 0));
        }
        let held = counter.0.lock();
        assert_eq!(held.len(), MOST_KINDS + 1);
        let other = &held[&(AccountId::from_i64(1), Timestamp::from_millis(0), OTHER.to_owned())];
        assert_eq!((other.count, other.target.as_deref()), (500, None));
    }
}
