//! Streams a track to a client in parts, so that it is never in memory as a whole.

use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;
use perigee_core::access::actor::Scope;
use perigee_core::error::{Cause, StoreError};
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{HistoryCursor, HistoryRequest, StoredLocation};
use perigee_core::store::{LocationSink, Next, Result as StoreResult, Store};

use super::simplify::Simplifier;
use super::writer::Writer;
use crate::budget::Permit;
use crate::http::error::chain;
use crate::http::read_turn::ReadTurn;

/// The usual size of a part: large enough that the lookup of the next one costs little, small enough for many slow
/// clients.
pub(super) const PART_BYTES: usize = 512 * 1024;
/// The size at which a part ends in the middle of a chunk, which must then be unpacked again.
const PART_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The most locations of a part, however small they are.
const PART_LOCATIONS: u32 = 5_000;
/// Locations that are simplified together.
const THINNED_TOGETHER: usize = 1_000;

/// The part that is being written.
pub(super) struct Track {
    writer: Box<dyn Writer>,
    thinning: Option<Thinning>,
    bytes: Vec<u8>,
    in_parts: bool,
}

struct Thinning {
    simplifier: Simplifier,
    waiting: Vec<StoredLocation>,
}

impl Track {
    /// Opens a document, which is sent in parts or as a whole.
    pub(super) fn open(mut writer: Box<dyn Writer>, simplify: Option<f64>, in_parts: bool) -> Self {
        let mut bytes = part();
        writer.open(&mut bytes);
        let thinning =
            simplify.map(|metres| Thinning { simplifier: Simplifier::new(metres), waiting: Vec::new() });
        Self { writer, thinning, bytes, in_parts }
    }

    /// Closes the document and returns its last part.
    pub(super) fn close(mut self, next_cursor: Option<&str>) -> Vec<u8> {
        self.write_waiting();
        self.writer.close(&mut self.bytes, next_cursor);
        self.bytes
    }

    /// Takes what was written since the last call.
    pub(super) fn take_part(&mut self) -> Bytes {
        std::mem::replace(&mut self.bytes, part()).into()
    }

    /// Simplifies and writes the locations that wait.
    fn write_waiting(&mut self) {
        let Some(Thinning { simplifier, waiting }) = &mut self.thinning else { return };
        for stored in simplifier.thin(std::mem::take(waiting)) {
            self.writer.write(&mut self.bytes, &stored);
        }
    }
}

/// A buffer for a part. Pages that are not touched take no memory.
fn part() -> Vec<u8> {
    Vec::with_capacity(PART_BYTES + PART_BYTES / 2)
}

impl LocationSink for Track {
    fn take(&mut self, stored: &StoredLocation) -> Next {
        match &mut self.thinning {
            None => self.writer.write(&mut self.bytes, stored),
            Some(thinning) => {
                thinning.waiting.push(stored.clone());
                if thinning.waiting.len() == THINNED_TOGETHER {
                    self.write_waiting();
                }
            }
        }
        match self.bytes.len() {
            PART_BYTES_MAX.. => Next::Stop,
            _ if !self.in_parts => Next::More,
            ..PART_BYTES => Next::More,
            PART_BYTES.. => Next::StopAtChunkEnd,
        }
    }
}

/// Reads the locations of a track.
pub(super) struct Source {
    store: Arc<dyn Store>,
    scope: Scope,
    device: DeviceId,
    request: HistoryRequest,
    more: bool,
}

impl Source {
    /// Reads the whole range in parts, or a single page.
    pub(super) fn new(
        store: Arc<dyn Store>,
        scope: Scope,
        device: DeviceId,
        request: HistoryRequest,
        in_parts: bool,
    ) -> Self {
        let limit = if in_parts { PART_LOCATIONS } else { request.limit };
        Self { store, scope, device, request: HistoryRequest { limit, ..request }, more: true }
    }

    /// The cursor of the next part, if there may be one.
    pub(super) fn next(&self) -> Option<HistoryCursor> {
        self.request.after.filter(|_| self.more)
    }

    /// Reads and writes the next part, and notes whether there may be another.
    pub(super) async fn read(&mut self, track: Box<Track>) -> StoreResult<Box<Track>> {
        let (track, next) = self.store.read_locations(self.scope, self.device, self.request, track).await?;
        self.more = next.is_some();
        self.request.after = next.or(self.request.after);
        let track: Box<dyn Any> = track;
        track.downcast().map_err(|_other| StoreError::Internal("the store returned another sink".into()))
    }
}

/// A document that is being streamed.
pub(super) struct Sending {
    pub(super) source: Source,
    pub(super) track: Box<Track>,
    /// Each part waits for its turn.
    pub(super) turn: ReadTurn,
    /// The id of the request, for the log.
    pub(super) request_id: String,
    /// Accounts for the memory of the part that the client has not read yet.
    pub(super) permit: Permit,
}

/// Reads and returns the next part. A failure aborts the connection, so that no client takes an incomplete track for a
/// complete one.
pub(super) async fn send_next(sending: Option<Sending>) -> Result<Option<(Bytes, Option<Sending>)>, Cause> {
    let Some(Sending { mut source, track, turn, request_id, permit }) = sending else { return Ok(None) };
    let slot = turn.next().await?;
    let read = source.read(track).await;
    drop(slot);
    match read {
        Ok(mut track) if source.next().is_some() => {
            let part = track.take_part();
            Ok(Some((part, Some(Sending { source, track, turn, request_id, permit }))))
        }
        Ok(track) => Ok(Some((track.close(None).into(), None))),
        Err(error) => {
            // The status was sent already, so the cause can only be logged.
            tracing::error!(
                request = request_id,
                cause = chain(&error),
                "the answer with a track was cut off"
            );
            Err(error.into())
        }
    }
}
