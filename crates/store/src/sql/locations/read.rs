//! A device's history, from chunks and from what is in none yet.

use perigee_core::actor::Scope;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{History, HistoryCursor, HistoryRequest, Order, StoredLocation};
use perigee_core::store::{LocationSink, Next, Result};

use super::super::scope;
use super::merge::Merge;
use super::window::Window;
use super::{log, packed};
use crate::Tx;
use crate::codec::Point;
use crate::sqlite::LocationMemory;
use crate::sqlite::locations::Owner;

/// What memory has of a part of a device's history.
pub(super) fn from_memory(memory: &LocationMemory, owner: Owner, request: &HistoryRequest) -> Vec<Point> {
    let window = Window::of(request);
    memory.unpacked().between(owner, (window.after, window.before), window.order, window.wanted())
}

/// Gives a part of the history of a device in sight to a sink, and the sink back with where to go on.
pub(super) async fn read(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
    request: HistoryRequest,
    recent: Option<Vec<Point>>,
    mut sink: Box<dyn LocationSink>,
) -> Result<(Box<dyn LocationSink>, Option<HistoryCursor>)> {
    scope::require_device(tx, scope, device).await?;
    let next = walk(tx, scope.account, device, &request, recent, &mut *sink).await?;
    Ok((sink, next))
}

/// A part of the history of a device in sight.
pub(super) async fn list(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
    request: HistoryRequest,
    recent: Option<Vec<Point>>,
) -> Result<History<StoredLocation>> {
    scope::require_device(tx, scope, device).await?;
    collect(tx, scope.account, device, &request, recent).await
}

/// A part of a device's history, while nobody else writes.
pub(super) async fn cut_out(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    request: &HistoryRequest,
) -> Result<History<StoredLocation>> {
    collect(tx, account, device, request, None).await
}

async fn collect(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    request: &HistoryRequest,
    recent: Option<Vec<Point>>,
) -> Result<History<StoredLocation>> {
    let mut items = Collected(Vec::new());
    let next = walk(tx, account, device, request, recent, &mut items).await?;
    Ok(History { items: items.0, next })
}

struct Collected(Vec<StoredLocation>);

impl LocationSink for Collected {
    fn take(&mut self, stored: &StoredLocation) -> Next {
        self.0.push(stored.clone());
        Next::More
    }
}

/// Walks the part of a device's history that is asked for; `recent` is what memory has of it.
///
/// Memory must have been looked at before the snapshot began: what was packed meanwhile is then in both, never in
/// neither. Numbers tell.
async fn walk(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    request: &HistoryRequest,
    recent: Option<Vec<Point>>,
    sink: &mut dyn LocationSink,
) -> Result<Option<HistoryCursor>> {
    let window = Window::of(request);
    let recent = match recent {
        Some(recent) => recent,
        None => log::recent(tx, account, device, &window).await?,
    };
    let mut merge = Merge::new(window, recent, sink);
    let (mut place, mut chunks_are_left) = (window.begin(), !window.is_empty());
    while chunks_are_left && merge.is_hungry() {
        let chunk = match window.order {
            Order::Ascending => packed::next(tx, account, device, place).await?,
            Order::Descending => packed::previous(tx, account, device, place).await?,
        };
        let Some(chunk) = chunk else {
            chunks_are_left = false;
            break;
        };
        if let Err(cause) = merge.give_chunk(chunk.bytes()?) {
            chunk.note_damaged(tx, account, device, cause)?;
        }
        place = window.end_of(&chunk);
        chunks_are_left = !window.ends_within(&chunk);
    }
    Ok(merge.finish(chunks_are_left))
}
