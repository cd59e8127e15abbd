//! A track on its way to a client: written while it is unpacked, a part at a time, never whole in memory.

use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;
use perigee_core::actor::Scope;
use perigee_core::error::{Cause, StoreError};
use perigee_core::id::DeviceId;
use perigee_core::location::{HistoryCursor, HistoryRequest, StoredLocation};
use perigee_core::store::{Appetite, LocationSink, Result as StoreResult, Store};

use super::simplify::Simplifier;
use super::writer::Writer;
use crate::http::error::chain;

/// Bytes a part has about: enough that finding the place again does not count, few enough for many slow clients.
const PART_BYTES: usize = 512 * 1024;
/// Bytes a part may have before it ends in the midst of a chunk, which is then unpacked again.
const PART_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Locations a part has at the most, however little is written of them.
const PART_LOCATIONS: u32 = 5_000;
/// Locations that are thinned together.
const THINNED_TOGETHER: usize = 1_000;

/// What has been written and not yet sent.
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
    /// Opens a document that is sent in parts or as a whole.
    pub(super) fn open(mut writer: Box<dyn Writer>, simplify: Option<f64>, in_parts: bool) -> Self {
        let mut bytes = part();
        writer.open(&mut bytes);
        let thinning =
            simplify.map(|metres| Thinning { simplifier: Simplifier::new(metres), waiting: Vec::new() });
        Self { writer, thinning, bytes, in_parts }
    }

    /// Closes the document; gives what has not been sent.
    pub(super) fn close(mut self, next_cursor: Option<&str>) -> Bytes {
        self.write_waiting();
        self.writer.close(&mut self.bytes, next_cursor);
        self.bytes.into()
    }

    /// What has been written since this was last asked.
    pub(super) fn take_part(&mut self) -> Bytes {
        std::mem::replace(&mut self.bytes, part()).into()
    }

    /// Writes what is needed of the locations that wait.
    fn write_waiting(&mut self) {
        let Some(Thinning { simplifier, waiting }) = &mut self.thinning else { return };
        for stored in simplifier.thin(std::mem::take(waiting)) {
            self.writer.write(&mut self.bytes, &stored);
        }
    }
}

/// Room for a part. What is not used of it takes no memory.
fn part() -> Vec<u8> {
    Vec::with_capacity(PART_BYTES + PART_BYTES / 2)
}

impl LocationSink for Track {
    fn take(&mut self, stored: &StoredLocation) -> Appetite {
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
            _ if !self.in_parts => Appetite::Hungry,
            ..PART_BYTES => Appetite::Hungry,
            PART_BYTES..PART_BYTES_MAX => Appetite::Sated,
            PART_BYTES_MAX.. => Appetite::Full,
        }
    }
}

/// Where a track is read from.
pub(super) struct Source {
    store: Arc<dyn Store>,
    scope: Scope,
    device: DeviceId,
    request: HistoryRequest,
    more: bool,
}

impl Source {
    /// All that the request spans, in parts, or just as much as it asks for.
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

    /// Where to go on, when there may be more.
    pub(super) fn next(&self) -> Option<HistoryCursor> {
        self.request.after.filter(|_| self.more)
    }

    /// Reads and writes the next part, and notes whether there may be another.
    pub(super) async fn read(&mut self, track: Box<Track>) -> StoreResult<Box<Track>> {
        let (track, next) = self.store.read_locations(self.scope, self.device, self.request, track).await?;
        self.more = next.is_some();
        self.request.after = next.or(self.request.after);
        let track: Box<dyn Any> = track;
        track.downcast().map_err(|_other| StoreError::Internal("another sink came back".into()))
    }
}

/// A document being sent.
pub(super) struct Sending {
    pub(super) source: Source,
    pub(super) track: Box<Track>,
    /// The id of the request, for the log.
    pub(super) request_id: String,
}

/// Sends the next part while the client reads; a failure breaks the connection off, so that nobody takes half a
/// track for a whole one.
pub(super) async fn send_on(sending: Option<Sending>) -> Result<Option<(Bytes, Option<Sending>)>, Cause> {
    let Some(Sending { mut source, track, request_id }) = sending else { return Ok(None) };
    match source.read(track).await {
        Ok(mut track) if source.next().is_some() => {
            let part = track.take_part();
            Ok(Some((part, Some(Sending { source, track, request_id }))))
        }
        Ok(track) => Ok(Some((track.close(None), None))),
        Err(error) => {
            // The answer has begun, so nothing but the log can tell why it ends here.
            tracing::error!(request = request_id, cause = chain(&error), "track broke off");
            Err(error.into())
        }
    }
}
