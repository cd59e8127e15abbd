//! Bodies that bring locations or alerts: JSON or one JSON document a line, packed or plain, bounded unpacked.

use std::io::{self, Read};

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::{HeaderMap, header};
use perigee_core::zone::Zone;

use super::body::{SUBMISSION_MAX, expect_media_type, media_type, read_body, too_large};
use crate::app::App;
use crate::http::code::Code;
use crate::http::error::{ApiError, ApiResult, internal};
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

/// What was sent, still packed as it came.
#[derive(Debug)]
pub struct Submission {
    packed: Bytes,
    coding: Coding,
    layout: Layout,
}

/// How a body is packed.
#[derive(Clone, Copy, Debug)]
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
        let packed = read_body(request.into_body(), SUBMISSION_MAX).await?;
        Ok(Self { packed, coding, layout: if in_lines { Layout::Lines } else { Layout::Document } })
    }
}

impl Submission {
    /// Unpacks the body, tells what it asks for, and judges the items it brings. Times without an offset are in the
    /// zone.
    pub async fn read<T: Send + 'static>(self, forms: &'static Forms<T>, zone: &Zone) -> ApiResult<Asked<T>> {
        let Self { packed, coding, layout } = self;
        if matches!(coding, Coding::Plain)
            && packed.len() <= AT_ONCE
            && let Some(asked) = forms.read_within(&packed, layout, zone, AT_ONCE_CAREFUL)
        {
            return asked;
        }
        let zone = zone.clone();
        let read = move || forms.read(&coding.unpack(packed)?, layout, &zone);
        tokio::task::spawn_blocking(read).await.map_err(internal)?
    }
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

    fn unpack(self, packed: Bytes) -> ApiResult<Bytes> {
        match self {
            Self::Plain => Ok(packed),
            Self::Gzip => bounded(flate2::read::MultiGzDecoder::new(&packed[..])),
            Self::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(&packed[..]).map_err(internal)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(internal)?;
                bounded(decoder)
            }
        }
    }
}

/// Unpacks no further than a body may be long, however much the packed bytes promise.
fn bounded(unpacking: impl Read) -> ApiResult<Bytes> {
    let limit = u64::try_from(SUBMISSION_MAX).unwrap_or(u64::MAX);
    let mut unpacked = Vec::new();
    match unpacking.take(limit + 1).read_to_end(&mut unpacked) {
        Ok(_) if unpacked.len() > SUBMISSION_MAX => Err(too_large(SUBMISSION_MAX)),
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
            assert_eq!(coding.unpack(full).unwrap().len(), SUBMISSION_MAX);
            assert_eq!(coding.unpack(over).unwrap_err().code, Code::BodyTooLarge);
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
            assert_eq!(coding.unpack(packed).unwrap_err().code, Code::MalformedJson, "{coding:?}");
        }
    }

    #[test]
    fn refuses_windows_that_would_take_much_memory() {
        let mut packer = zstd::Encoder::new(Vec::new(), 1).unwrap();
        packer.window_log(27).unwrap();
        packer.write_all(&vec![b' '; 1024]).unwrap();
        let bytes = packer.finish().unwrap();
        assert_eq!(Coding::Zstd.unpack(bytes.into()).unwrap_err().code, Code::MalformedJson);
    }
}
