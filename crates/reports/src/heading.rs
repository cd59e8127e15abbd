//! What a document says besides its rows.

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::notifications::routing::Units;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use crate::column::Column;
use crate::kind::ReportKind;

/// The reader, the period and the columns of a report.
#[derive(Clone, Debug)]
pub struct Heading {
    /// What the report is about.
    pub kind: ReportKind,
    /// Shown above the table.
    pub title: String,
    /// Name of the account.
    pub account: String,
    /// The beginning of the period.
    pub from: Timestamp,
    /// The end of the period, which does not belong to it.
    pub to: Timestamp,
    /// When the report is made.
    pub created: Timestamp,
    /// The zone of times and dates.
    pub zone: Zone,
    /// The language of titles and words.
    pub language: ConsoleLanguage,
    /// The units of distances and speeds.
    pub units: Units,
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// Encoded members with which a JSON document begins, without braces.
    pub envelope: Vec<u8>,
}
