//! A device's history, from chunks and from what is in none yet.

use perigee_core::actor::Scope;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{History, HistoryCursor, HistoryRequest, Order, StoredLocation};
use perigee_core::store::Result;

use super::super::{history, scope};
use super::chunk::{self, Key, key};
use super::log;
use super::row::unreadable_readings;
use crate::Tx;
use crate::codec::Point;
use crate::sqlite::Live;
use crate::sqlite::locations::Owner;

pub(super) async fn list(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
    request: HistoryRequest,
    recent: Option<Vec<Point>>,
) -> Result<History<StoredLocation>> {
    scope::require_device(tx, scope, device).await?;
    cut_out(tx, scope.account, device, &request, recent).await
}

/// The part of a device's history that is asked for; `recent` is what memory has of it.
///
/// Memory must have been looked at before the snapshot began: what was packed meanwhile is then in both, never in
/// neither. Numbers tell.
pub(super) async fn cut_out(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    request: &HistoryRequest,
    recent: Option<Vec<Point>>,
) -> Result<History<StoredLocation>> {
    let window = Window::of(request);
    let wanted = window.wanted;
    let mut items = packed(tx, account, device, &window, wanted).await?;
    let recent = match recent {
        Some(points) => unpack_points(&points)?,
        None => log::recent(tx, account, device).await?,
    };
    items.extend(recent.into_iter().filter(|stored| window.contains(stored)));
    items.sort_unstable_by_key(key);
    items.dedup_by_key(|stored| key(stored));
    if window.order == Order::Descending {
        items.reverse();
    }
    items.truncate(wanted);
    let cursor = |item: &StoredLocation| HistoryCursor { time: item.location.time, number: item.number };
    Ok(history::cut(items, request, cursor))
}

/// What memory has of a part of a device's history.
pub(super) fn from_memory(live: &Live, owner: Owner, request: &HistoryRequest) -> Vec<Point> {
    let window = Window::of(request);
    live.tail().between(owner, (window.after, window.before), window.order, window.wanted)
}

fn unpack_points(points: &[Point]) -> Result<Vec<StoredLocation>> {
    points.iter().map(|point| point.unpack().map_err(unreadable_readings)).collect()
}

/// What is asked for, as two places that are themselves left out.
struct Window {
    after: Key,
    before: Key,
    order: Order,
    /// One more than the limit, to see whether there is more.
    wanted: usize,
}

impl Window {
    fn of(request: &HistoryRequest) -> Self {
        let mut after = (request.range.from, i64::MIN);
        let mut before = (request.range.to, i64::MAX);
        if let Some(cursor) = request.after {
            let cursor = (cursor.time, cursor.number);
            match request.order {
                Order::Ascending => after = after.max(cursor),
                Order::Descending => before = before.min(cursor),
            }
        }
        let wanted = usize::try_from(request.limit).unwrap_or(usize::MAX).saturating_add(1);
        Self { after, before, order: request.order, wanted }
    }

    fn contains(&self, stored: &StoredLocation) -> bool {
        let place = key(stored);
        self.after < place && place < self.before
    }
}

/// At least the first `wanted` locations of the window that are in chunks, if there are so many.
async fn packed(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    window: &Window,
    wanted: usize,
) -> Result<Vec<StoredLocation>> {
    let mut items: Vec<StoredLocation> = Vec::new();
    let mut place = match window.order {
        Order::Ascending => window.after,
        Order::Descending => window.before,
    };
    while items.len() < wanted && window.after < window.before {
        let chunk = match window.order {
            Order::Ascending => chunk::next(tx, account, device, place).await?,
            Order::Descending => chunk::previous(tx, account, device, place).await?,
        };
        let Some(chunk) = chunk else { break };
        let Some(first) = chunk.points.first().map(key) else { break };
        let is_last = match window.order {
            Order::Ascending => chunk.last >= window.before,
            Order::Descending => first <= window.after,
        };
        place = match window.order {
            Order::Ascending => chunk.last,
            Order::Descending => first,
        };
        items.extend(chunk.points.into_iter().filter(|stored| window.contains(stored)));
        if is_last {
            break;
        }
    }
    Ok(items)
}
