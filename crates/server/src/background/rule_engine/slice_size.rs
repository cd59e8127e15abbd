//! The size of slices, adapted by account so that a slice takes about 100 ms.

use std::time::Duration;

use parking_lot::Mutex;
use perigee_core::id::AccountId;
use perigee_core::store::LogScanLimits;

use crate::cache::BoundedMap;

/// How long a slice should take.
const TARGET: Duration = Duration::from_millis(100);
/// Locations of an account's first slice, and the bounds of any slice.
const FIRST: usize = 2_000;
pub(super) const LEAST: usize = 20;
const MOST: usize = 20_000;
/// Devices of a slice at most: their results are stored in one transaction.
const DEVICES: usize = 1_000;
/// Alerts and episodes of a slice at most, unless it is the smallest: they are stored in one transaction.
pub(super) const EPISODES_MAX: usize = 500;
/// Maximum number of accounts whose sizes are cached.
const ACCOUNTS_MAX: usize = 10_000;

/// The sizes of the next slices, by account; those not listed begin with [`FIRST`].
#[derive(Debug)]
pub(super) struct SliceSizes(Mutex<BoundedMap<AccountId, usize>>);

impl Default for SliceSizes {
    fn default() -> Self {
        Self(Mutex::new(BoundedMap::new(ACCOUNTS_MAX)))
    }
}

impl SliceSizes {
    /// Limits of the next slice of an account.
    pub(super) fn limits(&self, account: AccountId) -> LogScanLimits {
        let size = self.0.lock().get(&account).copied().unwrap_or(FIRST);
        let devices = (size / 2).clamp(LEAST, DEVICES);
        LogScanLimits { locations: size, devices, carriers: devices }
    }

    /// Adapts the size to how long a slice of this many locations took.
    pub(super) fn note(&self, account: AccountId, locations: usize, took: Duration) {
        self.set(account, |size| next_size(size, locations, took));
    }

    /// Makes the next slice a quarter of this one, which had too many episodes; false if it is the smallest already.
    pub(super) fn shrink(&self, account: AccountId, locations: usize) -> bool {
        let can = locations > LEAST;
        if can {
            self.set(account, |_| (locations / 4).max(LEAST));
        }
        can
    }

    /// Makes the next slice the smallest, because this one cost too much.
    pub(super) fn shrink_to_least(&self, account: AccountId) {
        self.set(account, |_| LEAST);
    }

    fn set(&self, account: AccountId, next: impl FnOnce(usize) -> usize) {
        let mut sizes = self.0.lock();
        let size = next(sizes.get(&account).copied().unwrap_or(FIRST));
        if size == FIRST {
            sizes.remove(&account);
        } else {
            sizes.insert(account, size, |_| true);
        }
    }
}

fn next_size(size: usize, locations: usize, took: Duration) -> usize {
    if took > TARGET {
        let fits = locations.saturating_mul(usize::try_from(TARGET.as_micros()).unwrap_or(1));
        return (fits / usize::try_from(took.as_micros()).unwrap_or(usize::MAX))
            .clamp(LEAST, size.max(LEAST));
    }
    if took < TARGET / 2 && locations >= size { size.saturating_mul(2).min(MOST) } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_shrink_to_their_time_and_grow_again() {
        let ms = Duration::from_millis;
        for (size, locations, took, expect) in [
            (2_000, 2_000, ms(1_000), 200),
            (2_000, 2_000, ms(60_000), LEAST),
            (2_000, 2_000, ms(10), 4_000),
            (15_000, 15_000, ms(10), MOST),
            (2_000, 100, ms(10), 2_000),
            (2_000, 2_000, ms(70), 2_000),
            (LEAST, 1, ms(500), LEAST),
        ] {
            assert_eq!(next_size(size, locations, took), expect, "{size}, {locations}, {took:?}");
        }
    }

    #[test]
    fn slices_with_too_many_episodes_shrink_to_the_smallest() {
        let (sizes, account) = (SliceSizes::default(), AccountId::from_i64(1));
        assert_eq!(sizes.limits(account).locations, FIRST);
        assert!(sizes.shrink(account, 2_000));
        assert_eq!(sizes.limits(account).locations, 500);
        assert!(sizes.shrink(account, 70));
        assert_eq!(sizes.limits(account).locations, LEAST);
        assert!(!sizes.shrink(account, LEAST));
    }
}
