//! A printable sheet of short tables, such as the one for a rescue service, as a PDF.

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::notifications::routing::Units;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use crate::heading::Heading;
use crate::kind::ReportKind;
use crate::pdf;
use crate::writer::WriteError;

/// A sheet: title, sender and tables.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// Shown at the top.
    pub title: String,
    /// Name of the account.
    pub account: String,
    /// Lines below the title.
    pub lines: Vec<String>,
    /// The tables, in order; those without rows are left out.
    pub tables: Vec<SheetTable>,
    /// When it is made.
    pub created: Timestamp,
    /// The zone of the footer.
    pub zone: Zone,
}

/// A table of a sheet.
#[derive(Clone, Debug)]
pub struct SheetTable {
    /// Shown above it.
    pub title: String,
    /// Title and relative width of each column.
    pub columns: Vec<(String, u16)>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Sheet {
    /// The document.
    pub fn to_pdf(&self) -> Result<Vec<u8>, WriteError> {
        let heading = Heading {
            kind: ReportKind::DeviceHealth,
            title: self.title.clone(),
            account: self.account.clone(),
            from: self.created,
            to: self.created,
            created: self.created,
            zone: self.zone.clone(),
            language: ConsoleLanguage::English,
            units: Units::Nautical,
            columns: Vec::new(),
            envelope: Vec::new(),
        };
        pdf::sheet(&heading, self)
    }
}
