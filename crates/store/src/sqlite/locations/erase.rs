//! Erasing from the log. Its rows are never rewritten: an erased range is recorded and filtered out on every read.

use std::collections::HashMap;
use std::sync::Arc;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::TimeRange;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::memory::LocationMemory;
use super::save::save_some;
use crate::{Tx, params};

/// Erases a time range from the log and from memory. `packed` is how many locations were erased from chunks; returns
/// how many more were only in the log. The caller holds the locks [`LocationMemory::arriving`] and
/// [`LocationMemory::chunks`].
pub(crate) async fn erase(
    tx: &Tx,
    memory: &Arc<LocationMemory>,
    account: AccountId,
    device: DeviceId,
    range: TimeRange,
    packed: u64,
) -> Result<u64> {
    let head = memory.unpacked().head();
    let count = u64::try_from(memory.unpacked().count_within((account, device), range)).unwrap_or(0);
    if packed + count == 0 {
        return Ok(0);
    }
    // Erased locations are not replayed after a crash, so the state that followed from them is saved first.
    save_some(tx, memory, &[(account, device)]).await?;
    let sql = "INSERT INTO location_erased (account_id, device_id, up_to, from_time, to_time) \
               VALUES (?1, ?2, ?3, ?4, ?5)";
    tx.execute(sql, params![account, device, head, range.from, range.to]).await?;
    let memory = Arc::clone(memory);
    tx.after_commit(move || {
        memory.unpacked_mut().erase((account, device), range, head);
    });
    Ok(count)
}

/// The erased ranges of a part of the log, by device. Each applies to log numbers up to the one stored with it: a
/// location that is stored later is not erased, even if its time is within the range.
#[derive(Debug, Default)]
pub(super) struct Erased(HashMap<DeviceId, Vec<(i64, TimeRange)>>);

impl Erased {
    /// The ranges of an account that cover log numbers above this one.
    pub(super) async fn after(tx: &Tx, account: AccountId, number: i64) -> Result<Self> {
        let sql = "SELECT device_id, up_to, from_time, to_time FROM location_erased \
                   WHERE account_id = ?1 AND up_to > ?2";
        let mut erased: HashMap<DeviceId, Vec<(i64, TimeRange)>> = HashMap::new();
        for row in tx.query(sql, params![account, number]).await? {
            let range = TimeRange {
                from: Timestamp::from_millis(row.i64("from_time")?),
                to: Timestamp::from_millis(row.i64("to_time")?),
            };
            let device = DeviceId::from_i64(row.i64("device_id")?);
            erased.entry(device).or_default().push((row.i64("up_to")?, range));
        }
        Ok(Self(erased))
    }

    /// Whether a device's location of this number and time was erased.
    pub(super) fn contains(&self, device: DeviceId, number: i64, time: Timestamp) -> bool {
        self.0.get(&device).is_some_and(|erased| {
            erased.iter().any(|(up_to, range)| number <= *up_to && (range.from..=range.to).contains(&time))
        })
    }
}
