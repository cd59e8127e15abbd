//! The part of a history that is asked for.

use perigee_core::location::{HistoryRequest, Order, TimeRange};

use super::chunk::Key;
use super::packed::Packed;

/// What is asked for, as two places that are themselves left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) after: Key,
    pub(crate) before: Key,
    pub(crate) order: Order,
    /// Locations at the most.
    pub(crate) limit: usize,
}

impl Window {
    pub(super) fn of(request: &HistoryRequest) -> Self {
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

    /// One more than the limit, to see whether there is more.
    pub(crate) const fn wanted(&self) -> usize {
        self.limit.saturating_add(1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.after >= self.before
    }

    pub(super) fn contains(&self, place: Key) -> bool {
        self.after < place && place < self.before
    }

    /// The instants it reaches from and to.
    pub(super) const fn times(&self) -> TimeRange {
        TimeRange { from: self.after.0, to: self.before.0 }
    }

    /// Where it begins, in its order.
    pub(super) const fn begin(&self) -> Key {
        match self.order {
            Order::Ascending => self.after,
            Order::Descending => self.before,
        }
    }

    /// Whether the one place comes before the other, in its order.
    pub(super) fn precedes(&self, one: Key, other: Key) -> bool {
        match self.order {
            Order::Ascending => one < other,
            Order::Descending => one > other,
        }
    }

    /// Where a chunk ends, in its order.
    pub(super) const fn end_of(&self, chunk: &Packed) -> Key {
        match self.order {
            Order::Ascending => chunk.last,
            Order::Descending => chunk.first,
        }
    }

    /// Whether nothing after this chunk is asked for.
    pub(super) fn ends_within(&self, chunk: &Packed) -> bool {
        match self.order {
            Order::Ascending => chunk.last >= self.before,
            Order::Descending => chunk.first <= self.after,
        }
    }
}
