//! The history of a device, merged from chunks and unpacked locations.

use perigee_core::access::actor::Scope;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{History, HistoryCursor, HistoryRequest, Order, StoredLocation};
use perigee_core::store::{LocationSink, Next, Result};

use super::window::Window;
use crate::Tx;
use crate::codec::Point;
use crate::sql::locations::chunk_row;
use crate::sql::locations::merge::Merge;
use crate::sql::scope;

/// Passes a part of the history of a visible device to a sink; returns the sink, and the cursor to continue from.
pub(in crate::sql::locations) async fn read(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
    request: HistoryRequest,
    recent: Option<Vec<Point>>,
    mut sink: Box<dyn LocationSink>,
) -> Result<(Box<dyn LocationSink>, Option<HistoryCursor>)> {
    scope::require_device(tx, scope, device).await?;
    let next = walk(tx, scope.account, device, &request, recent, Chunks::Read, &mut *sink).await?;
    Ok((sink, next))
}

/// A part of the history of a visible device.
pub(in crate::sql::locations) async fn list(
    tx: &Tx,
    scope: Scope,
    device: DeviceId,
    request: HistoryRequest,
    recent: Option<Vec<Point>>,
) -> Result<History<StoredLocation>> {
    scope::require_device(tx, scope, device).await?;
    collect(tx, scope.account, device, &request, recent, Chunks::Read).await
}

/// A part of a device's history, within a write job.
pub(in crate::sql) async fn read_part(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    request: &HistoryRequest,
) -> Result<History<StoredLocation>> {
    collect(tx, account, device, request, None, Chunks::Read).await
}

/// Whether the chunks of a device are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sql::locations) enum Chunks {
    Read,
    /// The caller knows that they contain no requested location.
    Skip,
}

/// A part of a device's history; `recent` are its unpacked locations, if they are in memory.
pub(in crate::sql::locations) async fn collect(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    request: &HistoryRequest,
    recent: Option<Vec<Point>>,
    chunks: Chunks,
) -> Result<History<StoredLocation>> {
    let mut items = Collected(Vec::new());
    let next = walk(tx, account, device, request, recent, chunks, &mut items).await?;
    Ok(History { items: items.0, next })
}

struct Collected(Vec<StoredLocation>);

impl LocationSink for Collected {
    fn take(&mut self, stored: &StoredLocation) -> Next {
        self.0.push(stored.clone());
        Next::More
    }
}

/// Walks the requested part of a device's history; `recent` are its unpacked locations, if they are in memory.
///
/// Memory must have been read before the snapshot began. A location that was packed in between is then found in both,
/// never in neither, and is recognised by its log number.
async fn walk(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    request: &HistoryRequest,
    recent: Option<Vec<Point>>,
    chunks: Chunks,
    sink: &mut dyn LocationSink,
) -> Result<Option<HistoryCursor>> {
    let window = Window::of(request);
    let recent = match recent {
        Some(recent) => recent,
        None => tx.log().unpacked(tx, account, device, &window).await?,
    };
    let mut merge = Merge::new(window, recent, sink);
    let (mut key, mut chunks_are_left) = (window.begin(), chunks == Chunks::Read && !window.is_empty());
    while chunks_are_left && merge.takes_more() {
        let chunk = match window.order {
            Order::Ascending => chunk_row::next(tx, account, device, key).await?,
            Order::Descending => chunk_row::previous(tx, account, device, key).await?,
        };
        let Some(chunk) = chunk else {
            chunks_are_left = false;
            break;
        };
        if let Err(cause) = merge.pass_chunk(chunk.bytes()?) {
            chunk.note_damaged(tx, account, device, cause)?;
        }
        key = window.end_of(&chunk);
        chunks_are_left = !window.ends_within(&chunk);
    }
    Ok(merge.finish(chunks_are_left))
}
