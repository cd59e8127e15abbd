//! Finding locations that a device's chunks already contain.
//!
//! Nearly all late locations have a time that no stored location has. So only the column of times is unpacked, and the
//! other columns of a chunk only where a time matches.

use std::cmp::Ordering;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::TimeRange;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::chunk_row::{self, ChunkRow};
use super::pending_location::PendingLocation;
use crate::codec::{ChunkReader, CodecError};
use crate::{Row, Tx};

/// A time range in which a device has no packed location; both ends are exclusive. The locations that a tracker sends
/// after an outage are in one gap, so that chunks are searched only for the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    after: Timestamp,
    before: Timestamp,
}

impl Gap {
    pub(crate) fn contains(&self, time: Timestamp) -> bool {
        self.after < time && time < self.before
    }
}

/// Returns for each of these locations whether a chunk of the device contains it. Also returns the gap around the
/// newest of them, if no location is packed at its time.
pub(crate) async fn known_in_chunks(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    locations: &[&PendingLocation],
) -> Result<(Vec<bool>, Option<Gap>)> {
    Search::new(locations).finish(tx, account, device).await
}

/// The gap around the newest location of a search that is done.
async fn gap_around(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    search: &Search<'_>,
) -> Result<Option<Gap>> {
    let Some((newest, (after, before))) = search.latest().zip(search.around) else { return Ok(None) };
    let after = match after {
        Some(after) => Some(after),
        None => chunk_row::end_before(tx, account, device, newest).await?,
    };
    Ok(Some(Gap { after: after.unwrap_or(Timestamp::MIN), before }))
}

/// Like [`known_in_chunks`], given the row of the first chunk that ends at or after the earliest of the locations.
pub(crate) async fn known_from_chunk(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    locations: &[&PendingLocation],
    first: Row,
) -> Result<(Vec<bool>, Option<Gap>)> {
    let mut search = Search::new(locations);
    search.examine(tx, account, device, &ChunkRow::from_row(first)?)?;
    search.finish(tx, account, device).await
}

/// A search through the chunks of a device, from the oldest location to the newest.
struct Search<'a> {
    locations: &'a [&'a PendingLocation],
    /// Indexes of the locations, in the order of their times.
    order: Vec<usize>,
    /// How many of `order` are done.
    done: usize,
    /// The end of the chunk examined last.
    after: (Timestamp, i64),
    known: Vec<bool>,
    /// The packed times before and after the newest location; the one before is `None` if it is in an earlier chunk.
    /// `None` as a whole if a location is packed at its own time, or if a chunk cannot be read.
    around: Option<(Option<Timestamp>, Timestamp)>,
}

impl<'a> Search<'a> {
    fn new(locations: &'a [&'a PendingLocation]) -> Self {
        let mut order: Vec<usize> = (0..locations.len()).collect();
        order.sort_unstable_by_key(|index| locations[*index].fix.time);
        let known = vec![false; locations.len()];
        let around = Some((None, Timestamp::MAX));
        Self { locations, order, done: 0, after: (Timestamp::MIN, i64::MIN), known, around }
    }

    /// Examines the chunks that follow, until all locations are done. Returns which are known, and the gap around the
    /// newest.
    async fn finish(
        mut self,
        tx: &Tx,
        account: AccountId,
        device: DeviceId,
    ) -> Result<(Vec<bool>, Option<Gap>)> {
        while let Some((after, latest)) = self.next_after().zip(self.latest()) {
            let Some(chunk) = chunk_row::next_from(tx, account, device, after, latest).await? else { break };
            self.examine(tx, account, device, &chunk)?;
        }
        let gap = gap_around(tx, account, device, &self).await?;
        Ok((self.known, gap))
    }

    fn time(&self, index: usize) -> Timestamp {
        self.locations[index].fix.time
    }

    /// The key after which the next chunk to examine ends; `None` if all locations are done.
    fn next_after(&self) -> Option<(Timestamp, i64)> {
        let earliest = self.order.get(self.done)?;
        Some(self.after.max((self.time(*earliest), i64::MIN)))
    }

    /// The time of the newest location.
    fn latest(&self) -> Option<Timestamp> {
        self.order.last().map(|index| self.time(*index))
    }

    /// Looks in a chunk for the locations within its time range. A damaged chunk is recorded.
    fn examine(&mut self, tx: &Tx, account: AccountId, device: DeviceId, chunk: &ChunkRow) -> Result<()> {
        let rest = &self.order[self.done..];
        // Locations at the very time the chunk ends may also be in the next one.
        let passed = rest.partition_point(|index| self.time(*index) < chunk.last.0);
        let within = rest.partition_point(|index| self.time(*index) <= chunk.last.0);
        let begin = rest.partition_point(|index| self.time(*index) < chunk.first.0);
        let candidates = rest.get(begin..within).unwrap_or_default().to_vec();
        if !candidates.is_empty()
            // The content of a damaged chunk is unknown: storing a location twice is better than refusing it.
            && let Err(cause) = self.compare(&candidates, chunk.bytes()?)
        {
            chunk.note_damaged(tx, account, device, cause)?;
            self.around = None;
        }
        if self.latest().is_some_and(|latest| latest < chunk.first.0) {
            self.around = self.around.map(|_| (None, chunk.first.0));
        }
        self.after = chunk.last;
        self.done += passed;
        Ok(())
    }

    /// Marks the candidates that the chunk contains as known. The candidates are in time order.
    fn compare(&mut self, candidates: &[usize], bytes: &[u8]) -> std::result::Result<(), CodecError> {
        let chunk = ChunkReader::open(bytes)?;
        let mut rest = candidates.iter().copied().peekable();
        let (mut same_time, mut before) = (Vec::new(), None);
        let newest = self.latest();
        for time in chunk.times()? {
            let time = time?;
            match newest.map(|newest| newest.cmp(&time)) {
                Some(Ordering::Greater) => before = Some(time),
                Some(Ordering::Less) => self.around = self.around.map(|_| (before, time)),
                Some(Ordering::Equal) | None => self.around = None,
            }
            while let Some(index) = rest.next_if(|index| self.time(*index) <= time) {
                if self.time(index) == time {
                    same_time.push(index);
                }
            }
            if rest.peek().is_none() {
                break;
            }
        }
        let (Some(first), Some(last)) = (same_time.first(), same_time.last()) else { return Ok(()) };
        let mut rows = chunk.rows(TimeRange { from: self.time(*first), to: self.time(*last) })?;
        while let Some(stored) = rows.next()? {
            let time = stored.location.time;
            let begin = same_time.partition_point(|index| self.time(*index) < time);
            let end = same_time.partition_point(|index| self.time(*index) <= time);
            for index in &same_time[begin..end] {
                self.known[*index] |= self.locations[*index].is_same(stored);
            }
        }
        Ok(())
    }
}
