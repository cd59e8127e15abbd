//! The last location of a device, from memory where that has it.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::FutureExt as _;
use perigee_core::actor::Scope;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::DeviceId;
use perigee_core::location::StoredLocation;
use perigee_core::store::Result;

use super::live::Live;
use super::present::{Entry, read_missing};
use super::standing::facts_of;
use crate::codec::Point;
use crate::sql::locations::unreadable_readings;
use crate::{Database, Tx};

/// The newest location of a device in sight that can be trusted.
pub(crate) async fn find_last(
    database: &Database,
    live: &Arc<Live>,
    scope: Scope,
    device: DeviceId,
) -> Result<Option<StoredLocation>> {
    let found = if let Some(entry) = in_memory(live, scope, device) {
        entry.last
    } else {
        // Noted before the snapshot begins: what is forgotten after that must not come back.
        let read = Read { epoch: live.facts().epoch(), departures: live.present().departures() };
        let live = Arc::clone(live);
        database.read(move |tx| async move { read.last(tx, &live, scope, device).await }.boxed()).await?
    };
    found.map(|point| point.unpack().map_err(unreadable_readings)).transpose()
}

/// The present of a device if memory knows both that and that it is in sight.
fn in_memory(live: &Live, scope: Scope, device: DeviceId) -> Option<Entry> {
    live.facts().get(scope, device)?;
    live.present().get((scope.account, device)).cloned()
}

/// A read that leaves in memory what it found.
struct Read {
    epoch: u64,
    departures: u64,
}

impl Read {
    async fn last(self, tx: &Tx, live: &Live, scope: Scope, device: DeviceId) -> Result<Option<Point>> {
        let facts = facts_of(tx, &HashSet::from([(scope, device)])).await?;
        let fact = facts.get(&(scope, device)).ok_or(StoreError::NotFound(Kind::Device))?;
        live.facts_mut().put(self.epoch, scope, device, *fact);
        let owner = (scope.account, device);
        let found = read_missing(tx, live, [owner].into_iter()).await?.pop().map(|(_, entry)| entry);
        let mut present = live.present_mut();
        if let Some(entry) = &found {
            present.put_read(self.departures, owner, entry.clone());
        }
        // More may have arrived since the snapshot began.
        Ok(present.get(owner).or(found.as_ref()).and_then(|entry| entry.last.clone()))
    }
}
