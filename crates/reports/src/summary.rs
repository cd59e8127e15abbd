//! The totals of a report: of each device or group, and of the whole.

use std::collections::BTreeMap;

use crate::cell::Cell;
use crate::column::Column;
use crate::rows::{Row, Subject};

/// Adds up rows while they are written. Its memory is that of one line for each device or group.
#[derive(Debug)]
pub(crate) struct Summary {
    columns: Vec<Column>,
    lines: BTreeMap<Subject, Line>,
    /// The subjects in the order in which they first occurred.
    order: Vec<Subject>,
    whole: Line,
}

/// The sums of some rows.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Number of rows.
    pub(crate) rows: u64,
    /// A value for each column; empty where values cannot be added up.
    pub(crate) cells: Vec<Cell>,
}

impl Summary {
    pub(crate) fn new(columns: &[Column]) -> Self {
        let whole = Line { rows: 0, cells: vec![Cell::Empty; columns.len()] };
        Self { columns: columns.to_vec(), lines: BTreeMap::new(), order: Vec::new(), whole }
    }

    pub(crate) fn add(&mut self, row: &Row) {
        if !self.lines.contains_key(&row.subject) {
            let line = Line { rows: 0, cells: vec![Cell::Empty; self.columns.len()] };
            self.lines.insert(row.subject.clone(), line);
            self.order.push(row.subject.clone());
        }
        let own = self.lines.get_mut(&row.subject);
        for line in own.into_iter().chain([&mut self.whole]) {
            line.rows += 1;
            for ((column, sum), cell) in self.columns.iter().zip(&mut line.cells).zip(&row.cells) {
                if column.is_summed() {
                    sum.join(cell);
                }
            }
        }
    }

    /// Each device or group with its sums, in the order of their rows; at last the whole.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (Option<&Subject>, &Line)> {
        let own = self.order.iter().filter_map(|subject| Some((Some(subject), self.lines.get(subject)?)));
        own.chain([(None, &self.whole)])
    }
}
