//! The requested part of the histories of many devices, with few statements for all of them.

use std::collections::{HashMap, HashSet};

use perigee_core::access::actor::Scope;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{HistoryRequest, Order, StoredLocation};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::read::{self, Chunks};
use super::window::Window;
use crate::codec::Point;
use crate::sql::query::for_ids;
use crate::sql::scope::visible_devices;
use crate::{Tx, params};

/// The requested part of the history of each visible device; `recent` are the unpacked locations, if they are in
/// memory.
pub(in crate::sql::locations) async fn list(
    tx: &Tx,
    scope: Scope,
    devices: Vec<DeviceId>,
    request: HistoryRequest,
    recent: Option<HashMap<DeviceId, Vec<Point>>>,
) -> Result<HashMap<DeviceId, Vec<StoredLocation>>> {
    let account = scope.account;
    let window = Window::of(&request);
    let devices = visible_devices(tx, scope, devices.into_iter().collect()).await?;
    let mut recent = match recent {
        Some(recent) => recent,
        None => tx.log().unpacked_of_devices(tx, account, &devices, &window).await?,
    };
    let packed = last_packed(tx, account, &devices).await?;
    let mut trails = HashMap::with_capacity(devices.len());
    for device in devices {
        let recent = recent.remove(&device).unwrap_or_default();
        let needed = packed.get(&device).is_some_and(|packed| may_contain(&window, *packed, &recent));
        let chunks = if needed { Chunks::Read } else { Chunks::Skip };
        let part = read::collect(tx, account, device, &request, Some(recent), chunks).await?;
        trails.insert(device, part.items);
    }
    Ok(trails)
}

/// Whether chunks that end at this time may contain a location of the window before its last unpacked one.
fn may_contain(window: &Window, packed: Timestamp, recent: &[Point]) -> bool {
    if window.is_empty() || packed < window.after.0 {
        return false;
    }
    match window.order {
        Order::Ascending => true,
        Order::Descending => {
            recent.len() < window.wanted() || recent.last().is_none_or(|oldest| oldest.time <= packed)
        }
    }
}

/// The time of the last packed location of each device that has one.
async fn last_packed(
    tx: &Tx,
    account: AccountId,
    devices: &HashSet<DeviceId>,
) -> Result<HashMap<DeviceId, Timestamp>> {
    let ids: Vec<i64> = devices.iter().map(|device| device.as_i64()).collect();
    let sql = "SELECT device_id, MAX(last_time) AS last_time FROM location_chunk \
               WHERE account_id = ?1 AND device_id IN ({ids}) GROUP BY device_id";
    let rows = for_ids(tx, sql, params![account], &ids).await?;
    rows.iter()
        .map(|row| Ok((DeviceId::from_i64(row.i64("device_id")?), row.timestamp("last_time")?)))
        .collect()
}
