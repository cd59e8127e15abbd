//! The interface of the formats.

use std::fmt;
use std::io::Write;

use crate::csv::Csv;
use crate::heading::Heading;
use crate::json::{Json, Lines};
use crate::pdf::Pdf;
use crate::rows::Row;
use crate::xlsx::Xlsx;

/// The format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object.
    Json,
    /// A JSON object in each line.
    NdJson,
    /// Comma-separated values (RFC 4180).
    Csv,
    /// Office Open XML, for spreadsheet programs.
    Xlsx,
    /// Pages for reading and printing.
    Pdf,
}

/// Why a document could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The format cannot hold so many rows.
    #[error("the report has more than {0} rows")]
    TooManyRows(u64),
    /// A temporary file could not be written.
    #[error("cannot write the workbook")]
    Workbook(#[from] rust_xlsxwriter::XlsxError),
    /// The embedded fonts could not be read.
    #[error("cannot read the embedded fonts")]
    Font,
    /// The pages could not be written.
    #[error("cannot write the pages: {0}")]
    Pdf(String),
    /// The destination refused the bytes.
    #[error("cannot write the document")]
    Write(#[from] std::io::Error),
}

/// Writes a document row by row.
pub trait Writer: Send + fmt::Debug {
    /// Adds rows.
    fn add(&mut self, rows: &[Row]) -> Result<(), WriteError>;

    /// Takes the bytes that are final. Formats that are written at the end return none.
    fn take(&mut self) -> Vec<u8>;

    /// Writes everything that was not taken.
    fn finish(self: Box<Self>, out: &mut (dyn Write + Send)) -> Result<(), WriteError>;
}

impl Format {
    /// Every format, in the order of preference among equal quality values.
    pub const ALL: [Self; 5] = [Self::Json, Self::NdJson, Self::Csv, Self::Xlsx, Self::Pdf];

    /// Its name in the API, and the extension of files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::NdJson => "ndjson",
            Self::Csv => "csv",
            Self::Xlsx => "xlsx",
            Self::Pdf => "pdf",
        }
    }

    /// The media type of documents.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::NdJson => "application/x-ndjson",
            Self::Csv => "text/csv",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Pdf => "application/pdf",
        }
    }

    /// Whether the document is complete only at its end, so that nothing can be sent before.
    pub const fn is_file(self) -> bool {
        matches!(self, Self::Xlsx | Self::Pdf)
    }

    /// Begins a document.
    pub fn open(self, heading: Heading) -> Result<Box<dyn Writer>, WriteError> {
        Ok(match self {
            Self::Json => Box::new(Json::open(heading)),
            Self::NdJson => Box::new(Lines::open(heading)),
            Self::Csv => Box::new(Csv::open(heading)),
            Self::Xlsx => Box::new(Xlsx::open(heading)?),
            Self::Pdf => Box::new(Pdf::open(heading)),
        })
    }
}
