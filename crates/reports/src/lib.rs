//! Reports: which kinds there are, their columns, and writers that turn rows into documents.
//!
//! A caller chooses a [`ReportKind`] and columns, makes a [`Heading`], opens a [`Writer`] and passes [`Row`]s in any number
//! of batches. A writer keeps no rows, only the sums of each device or group. This crate knows no database and no clock;
//! XLSX needs temporary files.

mod cell;
mod column;
mod csv;
mod heading;
mod json;
mod kind;
mod pdf;
mod records;
mod rows;
mod sheet;
mod summary;
mod upkeep;
mod words;
mod writer;
mod xlsx;

#[cfg(test)]
mod tests;

pub use cell::Cell;
pub use column::{Column, ColumnType, Unit};
pub use heading::Heading;
pub use kind::{Grouping, ReportKind, RowsOf};
pub use records::{AlertRow, DeviceRow, MessagePrices, MessagesRow};
pub use rows::{Row, SegmentRow, Subject, TotalsRow};
pub use sheet::{Sheet, SheetTable};
pub use upkeep::{MaintenanceRow, VisitRow};
pub use words::written_language;
pub use writer::{Format, WriteError, Writer};
