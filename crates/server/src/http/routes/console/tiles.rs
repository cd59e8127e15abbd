//! Serves the operator's map tiles as ranges of a file.

use axum::body::Body;
use axum::response::IntoResponse as _;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use crate::http::error::invalid_header;
use crate::http::middleware::nothing_here;
use crate::http::prelude::*;
use crate::tiles::{ByteRange, TilePart, Tiles};

/// Answers a range of the operator map tiles. The whole file is never sent in one answer.
pub async fn get_tiles(State(app): State<App>, headers: HeaderMap) -> ApiResult<Response> {
    answer_range(app.maps.tiles.clone().ok_or_else(nothing_here)?, &headers).await
}

/// The part of a file that the `Range` header names.
pub(super) async fn answer_range(tiles: Tiles, headers: &HeaderMap) -> ApiResult<Response> {
    let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok()).and_then(ByteRange::read);
    let Some(range) = range else {
        return Err(invalid_header(
            "A part of the file must be requested, with a header such as \"Range: bytes=0-16383\".",
        ));
    };
    let read = tokio::task::spawn_blocking(move || tiles.read(range)).await.map_err(internal)?;
    match read.map_err(internal)? {
        Ok(part) => Ok(answer(part)),
        Err(size) => {
            let unsatisfied = StatusCode::RANGE_NOT_SATISFIABLE.into_response();
            Ok(with(unsatisfied, header::CONTENT_RANGE, &format!("bytes */{size}")))
        }
    }
}

fn answer(part: TilePart) -> Response {
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
