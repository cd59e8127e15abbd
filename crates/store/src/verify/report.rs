//! The report of a verification.

use serde::Serialize;

use crate::damage::{Damaged, Table};

/// The progress of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Rows checked so far in all tables.
    pub done: u64,
    /// Rows to check in total.
    pub all: u64,
}

/// The result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Rows that were checked.
    pub rows: u64,
    /// Checked rows without a checksum, written by an older version.
    pub without_checksum: u64,
    /// Rows that cannot be read or whose checksum does not match.
    pub damaged: Vec<Damaged>,
    /// Rows that were quarantined earlier.
    pub quarantined: u64,
    /// Hints for the operator.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether no row is damaged.
    pub fn is_sound(&self) -> bool {
        self.damaged.is_empty()
    }
}

/// A position in the order of a table's key; tables with a shorter key leave the rest at 0.
pub(super) type Cursor = [i64; 4];

/// The cursor before the first row.
pub(super) const START: Cursor = [i64::MIN; 4];

/// The result for some rows of a table.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) rows: u64,
    pub(super) without_checksum: u64,
    pub(super) damaged: Vec<Damaged>,
    /// The cursor to continue from; `None` at the end.
    pub(super) next: Option<Cursor>,
}

impl Batch {
    /// A batch of `rows` rows, of which one statement reads at most `limit`.
    pub(super) fn of(rows: usize, limit: usize, last: Option<Cursor>) -> Self {
        let next = last.filter(|_| rows >= limit);
        Self { rows: u64::try_from(rows).unwrap_or(u64::MAX), next, ..Self::default() }
    }
}

/// Damage of the database as a whole.
pub(super) fn of_database(reason: impl std::fmt::Display) -> Damaged {
    Damaged::new(Table::Other, reason)
}
