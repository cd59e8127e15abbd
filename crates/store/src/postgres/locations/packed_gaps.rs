//! Gaps in the packed history of devices, as this node has seen them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::time::Timestamp;

use crate::sql::locations::Gap;

type Key = (AccountId, DeviceId);

/// Maximum number of remembered gaps, about 60 bytes each. If there are more, all are dropped.
const GAPS_MAX: usize = 100_000;

/// The gap of each device in which its latest late location lay, and the number up to which the device was packed then.
///
/// Any node may pack, and raises that number in the same transaction; everything else only removes locations from
/// chunks. So a gap holds as long as the number is the same. It is read in each submission, under a lock that keeps
/// others from packing. (After a failover that lost commits, a number could be drawn again; a location that is sent
/// twice could then be stored twice.)
#[derive(Debug, Default)]
pub(super) struct PackedGaps(Mutex<HashMap<Key, (i64, Gap)>>);

impl PackedGaps {
    fn gaps(&self) -> MutexGuard<'_, HashMap<Key, (i64, Gap)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is known that no location in this time range is packed.
    pub(super) fn contain(&self, key: Key, packed_to: i64, (first, last): (Timestamp, Timestamp)) -> bool {
        let gaps = self.gaps();
        gaps.get(&key)
            .is_some_and(|(then, gap)| *then == packed_to && gap.contains(first) && gap.contains(last))
    }

    pub(super) fn add(&self, key: Key, packed_to: i64, gap: Gap) {
        let mut gaps = self.gaps();
        if gaps.len() >= GAPS_MAX {
            gaps.clear();
        }
        gaps.insert(key, (packed_to, gap));
    }
}
