//! The last location of a device: read from memory if it is there, and written to its table.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::FutureExt as _;
use perigee_core::access::actor::Scope;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::StoredLocation;
use perigee_core::store::Result;

use super::admission::read_visible;
use super::device_state::{DeviceEntry, read_missing};
use super::memory::LocationMemory;
use crate::codec::Point;
use crate::sql::locations::{last_checksum, unreadable_readings};
use crate::sql::query::insert_many;
use crate::{Database, Tx, params};

/// The last location of a visible device.
pub(crate) async fn find_last(
    database: &Database,
    memory: &Arc<LocationMemory>,
    scope: Scope,
    device: DeviceId,
) -> Result<Option<StoredLocation>> {
    let found = if let Some(entry) = in_memory(memory, scope, device) {
        entry.last
    } else {
        // Read before the snapshot begins: entries that are invalidated after that must not be put back.
        let read =
            Read { epoch: memory.device_cache().epoch(), evictions: memory.device_states().evictions() };
        let memory = Arc::clone(memory);
        database.read(move |tx| async move { read.last(tx, &memory, scope, device).await }.boxed()).await?
    };
    found.map(|point| point.unpack().map_err(unreadable_readings)).transpose()
}

/// The state of a device, if memory holds both the state and the fact that the device is visible.
fn in_memory(memory: &LocationMemory, scope: Scope, device: DeviceId) -> Option<DeviceEntry> {
    memory.device_cache().get(scope, device)?;
    memory.device_states().get((scope.account, device)).cloned()
}

/// A read that adds what it finds to memory.
struct Read {
    epoch: u64,
    evictions: u64,
}

impl Read {
    async fn last(
        self,
        tx: &Tx,
        memory: &LocationMemory,
        scope: Scope,
        device: DeviceId,
    ) -> Result<Option<Point>> {
        let visible = read_visible(tx, &HashSet::from([(scope, device)])).await?;
        let cached = visible.get(&(scope, device)).ok_or(StoreError::NotFound(Kind::Device))?;
        memory.device_cache_mut().put(self.epoch, scope, device, *cached);
        let owner = (scope.account, device);
        let found = read_missing(tx, memory, [owner].into_iter()).await?.pop().map(|(_, entry)| entry);
        let mut states = memory.device_states_mut();
        if let Some(entry) = &found {
            states.put_read(self.evictions, owner, entry.clone());
        }
        // More may have arrived since the snapshot began.
        Ok(states.get(owner).or(found.as_ref()).and_then(|entry| entry.last.clone()))
    }
}

/// Replaces the last location of a device, in its table and after the commit in memory.
pub(super) async fn replace(
    tx: &Tx,
    memory: &Arc<LocationMemory>,
    key: (AccountId, DeviceId),
    last: Option<StoredLocation>,
) -> Result<()> {
    let sql = "DELETE FROM last_location WHERE account_id = ?1 AND device_id = ?2";
    tx.execute(sql, params![key.0, key.1]).await?;
    if let Some(last) = &last {
        put_last_points(tx, &[(key, Point::pack(last))]).await?;
    }
    let memory = Arc::clone(memory);
    tx.after_commit(move || memory.device_states_mut().set_last(key, last.as_ref()));
    Ok(())
}

/// Writes last locations to the table.
pub(super) async fn put_last_points(tx: &Tx, last: &[((AccountId, DeviceId), Point)]) -> Result<()> {
    let row = |((account, device), point): &((AccountId, DeviceId), Point)| {
        params![
            *account,
            *device,
            point.number,
            point.time,
            point.received_at,
            point.latitude.as_e7(),
            point.longitude.as_e7(),
            point.trust.late,
            &*point.readings,
            last_checksum(*account, *device, point),
        ]
        .to_vec()
    };
    insert_many(tx, INSERT, &last.iter().map(row).collect::<Vec<_>>(), REPLACE).await?;
    Ok(())
}

const INSERT: &str = "INSERT INTO last_location \
    (account_id, device_id, number, time, received_at, latitude, longitude, late, readings, checksum)";
const REPLACE: &str = "ON CONFLICT (account_id, device_id) DO UPDATE SET number = excluded.number, \
    time = excluded.time, received_at = excluded.received_at, latitude = excluded.latitude, \
    longitude = excluded.longitude, late = excluded.late, readings = excluded.readings, \
    checksum = excluded.checksum";
