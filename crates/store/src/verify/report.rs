//! What checking a store found.

use serde::Serialize;

use crate::damage::{Damaged, Table};

/// How far checking is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Rows looked at in all tables.
    pub done: u64,
    /// Rows to be looked at.
    pub all: u64,
}

/// What checking a store found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Rows that were checked one by one.
    pub rows: u64,
    /// Those of them that have no checksum yet: from before there was one.
    pub without_checksum: u64,
    /// What is damaged.
    pub damaged: Vec<Damaged>,
    /// Rows that were set aside earlier.
    pub quarantined: u64,
    /// What the operator should know beside that.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether nothing is damaged.
    pub fn is_sound(&self) -> bool {
        self.damaged.is_empty()
    }
}

/// A place in the order of a table's key; tables with a shorter key leave the rest at 0.
pub(super) type Cursor = [i64; 4];

/// Before every row.
pub(super) const START: Cursor = [i64::MIN; 4];

/// Some rows of a table, checked.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) rows: u64,
    pub(super) without_checksum: u64,
    pub(super) damaged: Vec<Damaged>,
    /// Where to go on; none at the end.
    pub(super) next: Option<Cursor>,
}

impl Batch {
    /// A batch of so many rows, of which one statement reads at most `limit`.
    pub(super) fn of(rows: usize, limit: usize, last: Option<Cursor>) -> Self {
        let next = last.filter(|_| rows >= limit);
        Self { rows: u64::try_from(rows).unwrap_or(u64::MAX), next, ..Self::default() }
    }
}

/// Damage that is not of one row.
pub(super) fn of_database(reason: impl std::fmt::Display) -> Damaged {
    Damaged::new(Table::Other, reason)
}
