//! Bodies with locations or alerts: JSON or NDJSON, compressed or plain, limited in size after decompression.
//!
//! The body is received only when the handler asks for it, after privileges and rate limits are checked. Compressed,
//! large or unusual bodies are read on a blocking thread in two steps: decompression and the fast path, which need
//! little memory, then the slow path, which needs ten times the size of the text.

use std::io::{self, Read as _};

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::{HeaderMap, header};
use perigee_core::json_size::JsonSize;
use perigee_core::zone::Zone;

use super::body::{VALUE_BYTES, expect_media_type, media_type, payer};
use super::receive::{read_body, too_large};
use crate::app::App;
use crate::budget::{Payer, Permit, UntrustedBytes};
use crate::http::error::{ApiError, ApiResult, internal, malformed_json};
use crate::http::error_code::ErrorCode;
use crate::http::json::{MAX_VALUES, Pointer, Problem};
use crate::http::submission::{BodyContent, ItemKind, Layout};

const LINES: &str = "application/x-ndjson";
const TYPES: [&str; 2] = ["application/json", LINES];
/// The largest Zstandard window: 8 MiB, the limit of RFC 9659 for HTTP.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// Plain bodies up to this many bytes are read on the connection's thread. A thousand locations take less than half
/// a millisecond, not much more than moving the work to another thread and back.
const INLINE_MAX: usize = 256 * 1024;
/// The most bytes read on the slow path, which takes ten times as long, on the connection's thread. A body that
/// needs more is read on a blocking thread, so that other connections do not wait.
const INLINE_SLOW_MAX: usize = 32 * 1024;
/// The most bytes that the first step reads on the slow path, item by item.
const FIRST_STEP_SLOW_MAX: usize = 128 * 1024;
/// The most memory in bytes of a parsed document, estimated before it is parsed. Together with the bodies of an account
/// (`budget.body_mib_per_account`) and an idle server it stays well below 300 MiB.
const DOCUMENT_MAX: usize = 96 * 1024 * 1024;
/// The largest expansion factor of gzip.
const GZIP_RATIO: usize = 1_032;
/// Up to this many items, memory is not accounted for.
const FEW_ITEMS: usize = 100;

/// A body that was not received yet.
#[derive(Debug)]
pub struct Submission {
    body: Body,
    encoding: BodyEncoding,
    layout: Layout,
    payer: Payer,
}

/// A received body before decompression.
#[derive(Debug)]
pub struct Packed {
    body: UntrustedBytes,
    encoding: BodyEncoding,
    layout: Layout,
    limit: usize,
}

/// The result of the first step.
enum FirstStep<T> {
    Read(ApiResult<BodyContent<T>>),
    /// The slow path is needed for a text of this size.
    IsSlow(JsonSize),
}

/// A body that was read, and its memory permit.
#[derive(Debug)]
pub struct Read<T> {
    /// The items to store, or the time range to answer.
    pub content: BodyContent<T>,
    /// Held until the request is done.
    pub permit: Permit,
}

/// The content encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyEncoding {
    Plain,
    Gzip,
    Zstd,
}

impl FromRequest<App> for Submission {
    type Rejection = ApiError;

    async fn from_request(request: Request, _app: &App) -> ApiResult<Self> {
        expect_media_type(request.headers(), &TYPES)?;
        let in_lines = media_type(request.headers()).eq_ignore_ascii_case(LINES);
        let encoding = BodyEncoding::of(request.headers())?;
        let payer = payer(request.extensions())?;
        let layout = if in_lines { Layout::Lines } else { Layout::Document };
        Ok(Self { body: request.into_body(), encoding, layout, payer })
    }
}

impl Submission {
    /// Receives a body of at most `limit` bytes, before and after decompression.
    pub async fn receive(self, app: &App, limit: usize) -> ApiResult<Packed> {
        let Self { body, encoding, layout, payer } = self;
        let body = read_body(body, limit, &app.budget.bodies, payer).await?;
        Ok(Packed { body, encoding, layout, limit })
    }
}

impl Packed {
    /// Whether reading the body is expensive enough to charge the rate limit first.
    pub fn is_costly(&self) -> bool {
        self.encoding != BodyEncoding::Plain || self.body.len() > INLINE_MAX
    }

    /// Decompresses the body and reads its items. Times without an offset are in `zone`.
    pub async fn read<T: Send + 'static>(
        self,
        app: &App,
        kind: &'static ItemKind<T>,
        zone: &Zone,
    ) -> ApiResult<Read<T>> {
        let is_costly = self.is_costly();
        let Self { mut body, encoding, layout, limit } = self;
        if !is_costly
            && let Some(content) =
                body.read_here(|text| kind.read_within(text, layout, zone, INLINE_SLOW_MAX))
        {
            return pay_for_items(content?, body.into_permit());
        }
        if encoding != BodyEncoding::Plain {
            let memory = encoding.memory(body.len(), limit);
            let unpack = move |packed: &[u8]| encoding.unpack(packed, limit);
            let text = body.read(&app.budget, memory, unpack).await??;
            body = body.replaced(text)?;
        }
        let memory = fast_path_memory(body.len()) + slow_path_memory(body.len().min(FIRST_STEP_SLOW_MAX));
        let (first_zone, zone) = (zone.clone(), zone.clone());
        let first = move |text: &[u8]| match kind.read_within(text, layout, &first_zone, FIRST_STEP_SLOW_MAX)
        {
            Some(content) => FirstStep::Read(content),
            None => FirstStep::IsSlow(JsonSize::of(text)),
        };
        let content = match body.read(&app.budget, memory, first).await? {
            FirstStep::Read(content) => content?,
            FirstStep::IsSlow(size) => {
                let memory = match layout {
                    Layout::Document => document_memory(size)?,
                    // Each line is parsed on its own.
                    Layout::Lines => slow_path_memory(body.len()),
                };
                body.read(&app.budget, memory, move |text| kind.read(text, layout, &zone)).await??
            }
        };
        pay_for_items(content, body.into_permit())
    }
}

/// The memory of a document that is parsed as a whole. A document that has too many values or needs too much memory is
/// refused before it is parsed.
fn document_memory(size: JsonSize) -> ApiResult<usize> {
    if size.values > MAX_VALUES {
        let detail = format!("The body has more than {MAX_VALUES} values. Send it in parts.");
        return Err(malformed_json(Problem { pointer: Pointer::root(), detail }));
    }
    if size.bytes > DOCUMENT_MAX {
        return Err(ApiError::new(
            ErrorCode::BodyTooLarge,
            "The body has too many small values: reading it takes too much memory. Send it in parts.",
        ));
    }
    Ok(size.bytes)
}

/// The most memory in bytes of items that are read directly from a text: an attribute has at least six bytes of text,
/// and takes a hundred as a member of a map.
fn fast_path_memory(text: usize) -> usize {
    8 * text
}

/// The most memory in bytes that the values of a text take: each value has at least two bytes of text, and strings
/// are copied.
fn slow_path_memory(text: usize) -> usize {
    (text / 2).min(MAX_VALUES) * VALUE_BYTES + 2 * text
}

/// Reserves memory for many items, which stay in memory until they are stored.
fn pay_for_items<T>(content: BodyContent<T>, mut permit: Permit) -> ApiResult<Read<T>> {
    if let BodyContent::Store(Ok(batch)) | BodyContent::StoreAndRange(Ok(batch), _) = &content
        && batch.good.len() > FEW_ITEMS
    {
        permit.grow(batch.good.len() * size_of::<T>())?;
    }
    Ok(Read { content, permit })
}

impl BodyEncoding {
    fn of(headers: &HeaderMap) -> ApiResult<Self> {
        let Some(given) = headers.get(header::CONTENT_ENCODING) else { return Ok(Self::Plain) };
        match given.to_str().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "identity" => Ok(Self::Plain),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            "zstd" => Ok(Self::Zstd),
            _ => Err(ApiError::new(
                ErrorCode::UnsupportedMediaType,
                "Send the body with \"Content-Encoding: gzip\" or \"zstd\", or without that header.",
            )),
        }
    }

    /// The most memory in bytes for decompression.
    fn memory(self, packed: usize, limit: usize) -> usize {
        match self {
            Self::Plain => 0,
            Self::Gzip => packed.saturating_mul(GZIP_RATIO).min(limit),
            Self::Zstd => limit + (1 << ZSTD_WINDOW_LOG_MAX),
        }
    }

    fn unpack(self, packed: &[u8], limit: usize) -> ApiResult<Bytes> {
        match self {
            Self::Plain => Ok(Bytes::copy_from_slice(packed)),
            Self::Gzip => bounded(flate2::read::MultiGzDecoder::new(packed), limit, gzip_size(packed)),
            Self::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(packed).map_err(internal)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(internal)?;
                bounded(decoder, limit, 0)
            }
        }
    }
}

/// The size that a gzip file states at its end, as far as its length can be that of so many bytes.
fn gzip_size(packed: &[u8]) -> usize {
    let stated = packed.last_chunk().map_or(0, |end| u32::from_le_bytes(*end));
    usize::try_from(stated).unwrap_or(usize::MAX).min(packed.len().saturating_mul(GZIP_RATIO))
}

/// Decompresses at most `limit` bytes, whatever size the data announces. Memory for the expected size is taken at once,
/// because a growing buffer would take up to three times as much.
fn bounded(unpacking: impl io::Read, limit: usize, expected: usize) -> ApiResult<Bytes> {
    let stop_at = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let mut unpacked = Vec::with_capacity(expected.min(limit));
    match unpacking.take(stop_at).read_to_end(&mut unpacked) {
        Ok(_) if unpacked.len() > limit => Err(too_large(limit)),
        Ok(_) => Ok(unpacked.into()),
        Err(error) => Err(not_decompressible(error)),
    }
}

fn not_decompressible(error: io::Error) -> ApiError {
    ApiError::new(
        ErrorCode::MalformedJson,
        "The body cannot be decompressed. Compress it with the method that Content-Encoding names, or send it uncompressed without that header.",
    )
    .with_cause(error)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::body::SUBMISSION_MAX;
    use super::*;

    fn gzip(bytes: &[u8]) -> Bytes {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap().into()
    }

    #[test]
    fn unpacks_up_to_the_limit_and_no_further() {
        let full = vec![b' '; SUBMISSION_MAX];
        let over = vec![b' '; SUBMISSION_MAX + 1];
        for (encoding, full, over) in [
            (BodyEncoding::Gzip, gzip(&full), gzip(&over)),
            (
                BodyEncoding::Zstd,
                zstd::encode_all(&full[..], 1).unwrap().into(),
                zstd::encode_all(&over[..], 1).unwrap().into(),
            ),
        ] {
            assert!(over.len() < 20_000, "a bomb is small");
            assert_eq!(encoding.unpack(&full, SUBMISSION_MAX).unwrap().len(), SUBMISSION_MAX);
            assert_eq!(encoding.unpack(&over, SUBMISSION_MAX).unwrap_err().code, ErrorCode::BodyTooLarge);
        }
    }

    #[test]
    fn a_stated_size_is_bounded_by_the_length() {
        let packed = gzip(&vec![b' '; 100_000]);
        assert_eq!(gzip_size(&packed), 100_000);
        let lying = [&packed[..packed.len() - 4], &u32::MAX.to_le_bytes()].concat();
        assert_eq!(gzip_size(&lying), lying.len() * GZIP_RATIO);
        assert_eq!(gzip_size(b"gz"), 0);
        let body = BodyEncoding::Gzip.unpack(&lying, SUBMISSION_MAX);
        assert_eq!(body.unwrap_err().code, ErrorCode::MalformedJson, "the stated size is wrong");
    }

    #[test]
    fn refuses_a_body_that_is_not_in_its_encoding() {
        let whole = gzip(b"[1, 2, 3]");
        for (encoding, packed) in [
            (BodyEncoding::Gzip, Bytes::from_static(b"[]")),
            (BodyEncoding::Gzip, whole.slice(..whole.len() - 4)),
            (BodyEncoding::Zstd, whole),
        ] {
            assert_eq!(
                encoding.unpack(&packed, SUBMISSION_MAX).unwrap_err().code,
                ErrorCode::MalformedJson,
                "{encoding:?}"
            );
        }
    }

    #[test]
    fn refuses_windows_that_would_take_much_memory() {
        let mut packer = zstd::Encoder::new(Vec::new(), 1).unwrap();
        packer.window_log(27).unwrap();
        packer.write_all(&vec![b' '; 1024]).unwrap();
        let bytes = packer.finish().unwrap();
        assert_eq!(
            BodyEncoding::Zstd.unpack(&bytes, SUBMISSION_MAX).unwrap_err().code,
            ErrorCode::MalformedJson
        );
    }
}
