//! The operator's file of map tiles (`PMTiles`, version 3), read by ranges as the console needs them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use crate::app::App;
use crate::config::{ConfigError, Map};
use crate::http::error::{ApiResult, internal, invalid_header};
use crate::http::middleware::nothing_here;

/// What a file of tiles begins with.
const HEADER_BYTES: usize = 127;
/// The most one answer brings. A tile or a directory is far smaller.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// A file of map tiles.
#[derive(Clone, Debug)]
pub struct Tiles {
    path: PathBuf,
    facts: TileFacts,
}

/// What a file of tiles says of itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TileFacts {
    /// Whether its tiles are shapes rather than pictures.
    pub is_vector: bool,
    /// The first zoom that has tiles.
    pub min_zoom: u8,
    /// The last.
    pub max_zoom: u8,
    /// West, south, east and north.
    pub bounds: [f64; 4],
}

impl Tiles {
    /// The file the operator named, if one was.
    pub fn open(map: &Map) -> Result<Option<Self>, ConfigError> {
        if map.pmtiles.as_os_str().is_empty() {
            return Ok(None);
        }
        let wrong = |problem: String| ConfigError { key: "map.pmtiles", problem };
        let shown = map.pmtiles.display();
        let header =
            read_header(&map.pmtiles).map_err(|error| wrong(format!("cannot read {shown}: {error}")))?;
        let facts = TileFacts::of(&header).ok_or_else(|| {
            wrong(format!("{shown} is not a PMTiles file of version 3 with tiles a map can show"))
        })?;
        Ok(Some(Self { path: map.pmtiles.clone(), facts }))
    }

    /// What it says of itself.
    pub const fn facts(&self) -> TileFacts {
        self.facts
    }
}

fn read_header(path: &Path) -> io::Result<[u8; HEADER_BYTES]> {
    let mut header = [0; HEADER_BYTES];
    File::open(path)?.read_exact_at(&mut header, 0)?;
    Ok(header)
}

impl TileFacts {
    fn of(header: &[u8; HEADER_BYTES]) -> Option<Self> {
        let degrees = |at: usize| {
            let bytes = header.get(at..at + 4)?.try_into().ok()?;
            Some(f64::from(i32::from_le_bytes(bytes)) / 1e7)
        };
        let is_vector = match header[99] {
            1 => true,
            2..=5 => false,
            _ => return None,
        };
        let bounds = [degrees(102)?, degrees(106)?, degrees(110)?, degrees(114)?];
        header.starts_with(b"PMTiles\x03").then_some(Self {
            is_vector,
            min_zoom: header[100],
            max_zoom: header[101],
            bounds,
        })
    }
}

/// Bytes of the file, and the version of it they are from.
struct Part {
    bytes: Vec<u8>,
    first: u64,
    size: u64,
    tag: String,
}

/// A part of the operator's map tiles. The map asks for what it shows; nobody needs, or gets, the whole file at once.
pub async fn get_tiles(State(app): State<App>, headers: HeaderMap) -> ApiResult<Response> {
    let tiles = app.tiles.as_ref().ok_or_else(nothing_here)?;
    let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok()).and_then(Range::read);
    let Some(range) = range else {
        return Err(invalid_header(
            "Ask for part of the file with a header such as \"Range: bytes=0-16383\".",
        ));
    };
    let path = tiles.path.clone();
    let read = tokio::task::spawn_blocking(move || read_part(&path, range)).await.map_err(internal)?;
    match read.map_err(internal)? {
        Ok(part) => Ok(answer(part)),
        Err(size) => {
            let unsatisfied = StatusCode::RANGE_NOT_SATISFIABLE.into_response();
            Ok(with(unsatisfied, header::CONTENT_RANGE, &format!("bytes */{size}")))
        }
    }
}

/// Part of the file, or its size when there is nothing there. It is opened each time: the operator may put a newer one
/// in its place, and its tag tells the map so.
fn read_part(path: &Path, range: Range) -> io::Result<Result<Part, u64>> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    let size = about.len();
    let Some((first, length)) = range.within(size) else { return Ok(Err(size)) };
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, first)?;
    let changed = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    Ok(Ok(Part { bytes, first, size, tag: format!("\"{changed:x}-{size:x}\"") }))
}

fn answer(part: Part) -> Response {
    let last = part.first + part.bytes.len() as u64 - 1;
    let range = format!("bytes {}-{last}/{}", part.first, part.size);
    let mut response = Response::new(Body::from(part.bytes));
    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/vnd.pmtiles"));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=86400"));
    with(with(response, header::CONTENT_RANGE, &range), header::ETAG, &part.tag)
}

fn with(mut response: Response, name: HeaderName, value: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
    response
}

/// One range of bytes, as RFC 9110 (section 14.1.2) has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    /// From here, to there or to the end.
    From(u64, Option<u64>),
    /// So many at the end.
    Last(u64),
}

impl Range {
    fn read(text: &str) -> Option<Self> {
        let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
        match (first.trim(), last.trim()) {
            ("", last) => last.parse().ok().map(Self::Last),
            (first, "") => Some(Self::From(first.parse().ok()?, None)),
            (first, last) => {
                let (first, last) = (first.parse().ok()?, last.parse().ok()?);
                (first <= last).then_some(Self::From(first, Some(last)))
            }
        }
    }

    /// Where it starts in a file of this size, and how many bytes of it are sent.
    fn within(self, size: u64) -> Option<(u64, u64)> {
        let (first, end) = match self {
            Self::From(first, last) => (first, last.map_or(size, |last| last.saturating_add(1).min(size))),
            Self::Last(count) => (size.saturating_sub(count), size),
        };
        (first < end).then(|| (first, (end - first).min(MOST_BYTES)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_to_the_file() {
        let check = |text: &str, expect: Option<(u64, u64)>| {
            assert_eq!(Range::read(text).and_then(|range| range.within(1_000)), expect, "{text}");
        };
        check("bytes=0-0", Some((0, 1)));
        check("bytes=10-19", Some((10, 10)));
        check("bytes=990-2000", Some((990, 10)));
        check("bytes=0-18446744073709551615", Some((0, 1_000)));
        check("bytes=-10", Some((990, 10)));
        check("bytes=-5000", Some((0, 1_000)));
        check("bytes=999-", Some((999, 1)));
        for nothing in ["bytes=1000-", "bytes=-0", "bytes=9-3", "bytes=a-b", "bytes=0-1,3-4", "lines=0-1", ""]
        {
            check(nothing, None);
        }
        assert_eq!(Range::From(0, None).within(u64::MAX), Some((0, MOST_BYTES)));
    }
}
