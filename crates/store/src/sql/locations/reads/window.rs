//! The requested part of a history.

use perigee_core::locations::location::{HistoryRequest, Order, TimeRange};

use crate::sql::locations::chunk::LocationKey;
use crate::sql::locations::chunk_row::ChunkRow;

/// The requested part, between two exclusive keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) after: LocationKey,
    pub(crate) before: LocationKey,
    pub(crate) order: Order,
    /// The most locations to return.
    pub(crate) limit: usize,
}

impl Window {
    pub(in crate::sql::locations) fn of(request: &HistoryRequest) -> Self {
        let mut after = (request.range.from, i64::MIN);
        let mut before = (request.range.to, i64::MAX);
        if let Some(cursor) = request.after {
            let cursor = (cursor.time, cursor.number);
            match request.order {
                Order::Ascending => after = after.max(cursor),
                Order::Descending => before = before.min(cursor),
            }
        }
        let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
        Self { after, before, order: request.order, limit }
    }

    /// One more than the limit, to see whether there are more.
    pub(crate) const fn wanted(&self) -> usize {
        self.limit.saturating_add(1)
    }

    pub(in crate::sql::locations) fn is_empty(&self) -> bool {
        self.after >= self.before
    }

    pub(crate) fn contains(&self, key: LocationKey) -> bool {
        self.after < key && key < self.before
    }

    /// The time range between the keys.
    pub(in crate::sql::locations) const fn times(&self) -> TimeRange {
        TimeRange { from: self.after.0, to: self.before.0 }
    }

    /// The key it begins at, in its order.
    pub(in crate::sql::locations) const fn begin(&self) -> LocationKey {
        match self.order {
            Order::Ascending => self.after,
            Order::Descending => self.before,
        }
    }

    /// Whether the one key comes before the other, in its order.
    pub(in crate::sql::locations) fn precedes(&self, one: LocationKey, other: LocationKey) -> bool {
        match self.order {
            Order::Ascending => one < other,
            Order::Descending => one > other,
        }
    }

    /// The key a chunk ends at, in its order.
    pub(in crate::sql::locations) const fn end_of(&self, chunk: &ChunkRow) -> LocationKey {
        match self.order {
            Order::Ascending => chunk.last,
            Order::Descending => chunk.first,
        }
    }

    /// Whether nothing after this chunk is requested.
    pub(in crate::sql::locations) fn ends_within(&self, chunk: &ChunkRow) -> bool {
        match self.order {
            Order::Ascending => chunk.last >= self.before,
            Order::Descending => chunk.first <= self.after,
        }
    }
}
