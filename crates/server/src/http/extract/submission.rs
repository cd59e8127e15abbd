//! Bodies that bring locations or alerts: JSON or one JSON document a line, packed or plain, bounded unpacked.
//!
//! Nothing is received before the handler asks for it, so that privileges and rates come first. What is packed, large or
//! unusual is read off the threads that serve connections, in two steps: unpacking and the quick way, which need little
//! memory, and only then the careful way, which needs ten times the text.

use std::io::{self, Read as _};

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::{HeaderMap, header};
use perigee_core::zone::Zone;

use super::body::{VALUE_BYTES, expect_media_type, media_type, payer};
use super::receive::{Received, read_body, too_large};
use crate::app::App;
use crate::budget::{Payer, Permit};
use crate::http::code::Code;
use crate::http::error::{ApiError, ApiResult, internal};
use crate::http::json::MAX_VALUES;
use crate::http::submission::{Asked, Forms, Layout};

const LINES: &str = "application/x-ndjson";
const TYPES: [&str; 2] = ["application/json", LINES];
/// The largest window a packer may ask memory for: 8 MiB, as RFC 9659 has it for HTTP.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// Plain bodies up to this size are read where they arrive. A thousand locations take less than half a millisecond,
/// not much more than it costs to hand them to another thread and be woken by it.
const AT_ONCE: usize = 256 * 1024;
/// Of these, so many bytes may need the careful way, which takes ten times as long; a body that needs more is read
/// beside the reactor, so that nobody else waits for it.
const AT_ONCE_CAREFUL: usize = 32 * 1024;
/// Bytes that the first step may read the careful way, item by item.
const FIRST_CAREFUL: usize = 128 * 1024;
/// Items whose memory is not worth counting.
const FEW_ITEMS: usize = 100;

/// What is being sent, not received yet.
#[derive(Debug)]
pub struct Submission {
    body: Body,
    coding: Coding,
    layout: Layout,
    payer: Payer,
}

/// What was sent, still packed as it came.
#[derive(Debug)]
pub struct Packed {
    bytes: Bytes,
    permit: Permit,
    coding: Coding,
    layout: Layout,
    payer: Payer,
    limit: usize,
}

/// What a body asks for, and the permit to keep it in memory.
#[derive(Debug)]
pub struct Read<T> {
    /// What it asks for.
    pub asked: Asked<T>,
    /// Held until the request is done.
    pub permit: Permit,
}

/// How a body is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Plain,
    Gzip,
    Zstd,
}

impl FromRequest<App> for Submission {
    type Rejection = ApiError;

    async fn from_request(request: Request, _app: &App) -> ApiResult<Self> {
        expect_media_type(request.headers(), &TYPES)?;
        let in_lines = media_type(request.headers()).eq_ignore_ascii_case(LINES);
        let coding = Coding::of(request.headers())?;
        let payer = payer(request.extensions())?;
        let layout = if in_lines { Layout::Lines } else { Layout::Document };
        Ok(Self { body: request.into_body(), coding, layout, payer })
    }
}

impl Submission {
    /// Receives a body that has at most so many bytes, also when it is unpacked.
    pub async fn receive(self, app: &App, limit: usize) -> ApiResult<Packed> {
        let Self { body, coding, layout, payer } = self;
        let Received { bytes, permit } = read_body(body, limit, &app.budget.bodies, payer).await?;
        Ok(Packed { bytes, permit, coding, layout, payer, limit })
    }
}

/// What the first step came to.
enum First<T> {
    Done(ApiResult<Asked<T>>),
    /// The text has to be read the careful way.
    Careful(Bytes),
}

impl Packed {
    /// Whether reading it is more than a moment's work, so that its sender's rate is asked first.
    pub fn is_costly(&self) -> bool {
        self.coding != Coding::Plain || self.bytes.len() > AT_ONCE
    }

    /// Unpacks the body, tells what it asks for, and judges the items it brings.
    /// Times without an offset are in the zone.
    pub async fn read<T: Send + 'static>(
        self,
        app: &App,
        forms: &'static Forms<T>,
        zone: &Zone,
    ) -> ApiResult<Read<T>> {
        if !self.is_costly()
            && let Some(asked) = forms.read_within(&self.bytes, self.layout, zone, AT_ONCE_CAREFUL)
        {
            return pay_for_items(asked?, self.permit);
        }
        let Self { bytes, mut permit, coding, layout, payer, limit } = self;
        let memory = coding.memory(bytes.len(), limit) + careful_memory(FIRST_CAREFUL);
        let (first_zone, zone) = (zone.clone(), zone.clone());
        let first = move || -> ApiResult<First<T>> {
            let text = coding.unpack(bytes, limit)?;
            let quick = forms.read_within(&text, layout, &first_zone, FIRST_CAREFUL);
            Ok(quick.map_or_else(|| First::Careful(text), First::Done))
        };
        let asked = match app.budget.run(payer, memory, first).await?? {
            First::Done(asked) => asked?,
            First::Careful(text) => {
                if coding != Coding::Plain {
                    permit.grow(text.len())?;
                }
                let memory = careful_memory(text.len());
                app.budget.run(payer, memory, move || forms.read(&text, layout, &zone)).await??
            }
        };
        pay_for_items(asked, permit)
    }
}

/// Bytes that the values of a text may take: one has two bytes of text at least, and strings are copied.
fn careful_memory(text: usize) -> usize {
    (text / 2).min(MAX_VALUES) * VALUE_BYTES + 2 * text
}

/// Pays for many items, which stay in memory until they are stored.
fn pay_for_items<T>(asked: Asked<T>, mut permit: Permit) -> ApiResult<Read<T>> {
    if let Asked::Store(Ok(batch)) | Asked::StoreAndRange(Ok(batch), _) = &asked
        && batch.good.len() > FEW_ITEMS
    {
        permit.grow(batch.good.len() * size_of::<T>())?;
    }
    Ok(Read { asked, permit })
}

impl Coding {
    fn of(headers: &HeaderMap) -> ApiResult<Self> {
        let Some(given) = headers.get(header::CONTENT_ENCODING) else { return Ok(Self::Plain) };
        match given.to_str().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "identity" => Ok(Self::Plain),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            "zstd" => Ok(Self::Zstd),
            _ => Err(ApiError::new(
                Code::UnsupportedMediaType,
                "Send the body with \"Content-Encoding: gzip\" or \"zstd\", or without that header.",
            )),
        }
    }

    /// Bytes that unpacking may take.
    fn memory(self, packed: usize, limit: usize) -> usize {
        /// What gzip can make of a byte.
        const GZIP_RATIO: usize = 1_032;
        match self {
            Self::Plain => 0,
            Self::Gzip => packed.saturating_mul(GZIP_RATIO).min(limit),
            Self::Zstd => limit + (1 << ZSTD_WINDOW_LOG_MAX),
        }
    }

    fn unpack(self, packed: Bytes, limit: usize) -> ApiResult<Bytes> {
        match self {
            Self::Plain => Ok(packed),
            Self::Gzip => bounded(flate2::read::MultiGzDecoder::new(&packed[..]), limit),
            Self::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(&packed[..]).map_err(internal)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(internal)?;
                bounded(decoder, limit)
            }
        }
    }
}

/// Unpacks no further than a body may be long, however much the packed bytes promise.
fn bounded(unpacking: impl io::Read, limit: usize) -> ApiResult<Bytes> {
    let stop_at = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let mut unpacked = Vec::new();
    match unpacking.take(stop_at).read_to_end(&mut unpacked) {
        Ok(_) if unpacked.len() > limit => Err(too_large(limit)),
        Ok(_) => Ok(unpacked.into()),
        Err(error) => Err(unpackable(error)),
    }
}

fn unpackable(error: io::Error) -> ApiError {
    ApiError::new(
        Code::MalformedJson,
        "The body cannot be unpacked. Send it packed as Content-Encoding says, or plain and without that header.",
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
        for (coding, full, over) in [
            (Coding::Gzip, gzip(&full), gzip(&over)),
            (
                Coding::Zstd,
                zstd::encode_all(&full[..], 1).unwrap().into(),
                zstd::encode_all(&over[..], 1).unwrap().into(),
            ),
        ] {
            assert!(over.len() < 20_000, "a bomb is small");
            assert_eq!(coding.unpack(full, SUBMISSION_MAX).unwrap().len(), SUBMISSION_MAX);
            assert_eq!(coding.unpack(over, SUBMISSION_MAX).unwrap_err().code, Code::BodyTooLarge);
        }
    }

    #[test]
    fn refuses_what_is_not_packed_so() {
        let whole = gzip(b"[1, 2, 3]");
        for (coding, packed) in [
            (Coding::Gzip, Bytes::from_static(b"[]")),
            (Coding::Gzip, whole.slice(..whole.len() - 4)),
            (Coding::Zstd, whole),
        ] {
            assert_eq!(
                coding.unpack(packed, SUBMISSION_MAX).unwrap_err().code,
                Code::MalformedJson,
                "{coding:?}"
            );
        }
    }

    #[test]
    fn refuses_windows_that_would_take_much_memory() {
        let mut packer = zstd::Encoder::new(Vec::new(), 1).unwrap();
        packer.window_log(27).unwrap();
        packer.write_all(&vec![b' '; 1024]).unwrap();
        let bytes = packer.finish().unwrap();
        assert_eq!(Coding::Zstd.unpack(bytes.into(), SUBMISSION_MAX).unwrap_err().code, Code::MalformedJson);
    }
}
