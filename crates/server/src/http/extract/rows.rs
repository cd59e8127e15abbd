//! Bodies with many resources: a JSON array, NDJSON or CSV. They are received and read only when the handler asks for it,
//! after privileges and rates were checked.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use perigee_core::json_size::JsonSize;
use sha2::{Digest, Sha256};

use super::body::{VALUE_BYTES_MAX, expect_media_type, expect_no_coding, media_type, payer};
use super::receive::read_body;
use crate::app::App;
use crate::budget::{Payer, UntrustedBytes};
use crate::http::error::{ApiError, ApiResult};
use crate::http::error_code::ErrorCode;

const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";
const TABLE: &str = "text/csv";
/// The most memory in bytes of the rows of a body, estimated before it is read. With the body and the devices it is below the
/// memory that one account may use.
const MEMORY_MAX: usize = 32 * 1024 * 1024;

/// How the rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLayout {
    /// A JSON array, or an object with one.
    Array,
    /// A JSON object on each line.
    Lines,
    /// CSV with a header line.
    Table,
}

/// A body that was not received yet.
#[derive(Debug)]
pub struct RowsBody {
    body: Body,
    layout: RowLayout,
    payer: Payer,
}

/// A received body, before it is read.
#[derive(Debug)]
pub struct ReceivedRows {
    bytes: UntrustedBytes,
    layout: RowLayout,
}

/// What was read from a body, and the memory it takes.
#[derive(Debug)]
pub struct ReadRows<T> {
    /// The rows.
    pub rows: T,
    /// SHA-256 of the bytes as they were sent.
    pub hash: [u8; 32],
    /// Accounts for the memory of the rows.
    pub held: UntrustedBytes,
}

impl FromRequest<App> for RowsBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _app: &App) -> ApiResult<Self> {
        expect_media_type(request.headers(), &[JSON, LINES, TABLE])?;
        expect_no_coding(request.headers())?;
        let media = media_type(request.headers());
        let layout = if media.eq_ignore_ascii_case(TABLE) {
            RowLayout::Table
        } else if media.eq_ignore_ascii_case(LINES) {
            RowLayout::Lines
        } else {
            RowLayout::Array
        };
        let payer = payer(request.extensions())?;
        Ok(Self { body: request.into_body(), layout, payer })
    }
}

impl RowsBody {
    /// Receives a body of at most `limit` bytes.
    pub async fn receive(self, app: &App, limit: usize) -> ApiResult<ReceivedRows> {
        let bytes = read_body(self.body, limit, &app.budget.bodies, self.payer).await?;
        Ok(ReceivedRows { bytes, layout: self.layout })
    }
}

/// The values that a table becomes: each cell, and each part of a cell, is one.
fn size_of_table(bytes: &[u8]) -> JsonSize {
    let ends = bytes.iter().filter(|byte| matches!(byte, b',' | b';' | b'\t' | b'|' | b'\n' | b'\r'));
    let values = ends.count() + 1;
    JsonSize { values, bytes: values * VALUE_BYTES_MAX / 2 + bytes.len() }
}

impl ReceivedRows {
    /// Reads the rows with this function when it is the payer's turn. It makes at most `values_max` JSON values.
    pub async fn read<T: Send + 'static>(
        mut self,
        app: &App,
        values_max: usize,
        read: impl FnOnce(&[u8], RowLayout) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<ReadRows<T>> {
        let layout = self.layout;
        let size = match layout {
            RowLayout::Array | RowLayout::Lines => self.bytes.read_here(JsonSize::of),
            RowLayout::Table => self.bytes.read_here(size_of_table),
        };
        if size.values > values_max || size.bytes > MEMORY_MAX {
            return Err(ApiError::new(
                ErrorCode::BodyTooLarge,
                "The body has too many values: reading it takes too much memory. Send it in parts.",
            ));
        }
        let memory = size.bytes + self.bytes.len();
        self.bytes.hold(memory)?;
        let read = move |bytes: &[u8]| (read(bytes, layout), Sha256::digest(bytes).into());
        let (rows, hash) = self.bytes.read(&app.budget, memory, read).await?;
        Ok(ReadRows { rows: rows?, hash, held: self.bytes })
    }
}
