//! Files that are part of the program, answered with an entity tag and told how long they may be kept.

use std::borrow::Cow;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::coding::Coding;
use super::extract::Preconditions;
use super::packed::kept;
use super::reply::not_modified;

/// How long a client may keep a file without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Not at all: it asks each time, and gets 304 while nothing changed.
    Never,
    /// A day, and a week more while it fetches a newer one. Their names stay when the program is upgraded.
    Long,
    /// For ever: another content has another name.
    Forever,
}

impl Keep {
    const fn header(self) -> HeaderValue {
        match self {
            Self::Never => HeaderValue::from_static("no-cache"),
            Self::Long => HeaderValue::from_static("public, max-age=86400, stale-while-revalidate=604800"),
            Self::Forever => HeaderValue::from_static("public, max-age=31536000, immutable"),
        }
    }
}

/// A file, ready to be answered.
#[derive(Clone, Debug)]
pub struct EmbeddedFile {
    content: Bytes,
    media_type: &'static str,
    tag: String,
    keep: Keep,
    /// None where the layer around every answer chooses it.
    coding: Option<Coding>,
}

impl EmbeddedFile {
    /// A file of this name, with the hash of its content.
    pub fn new(name: &str, content: Cow<'static, [u8]>, hash: [u8; 32], keep: Keep) -> Self {
        let tag = hash[..8].iter().fold(String::from("\""), |tag, byte| format!("{tag}{byte:02x}")) + "\"";
        Self { content: kept(content), media_type: media_type(name), tag, keep, coding: None }
    }

    /// Its bytes.
    pub(super) fn content(&self) -> Bytes {
        self.content.clone()
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.content.len()
    }

    /// The same file with these bytes.
    #[must_use]
    pub(super) fn with_content(self, content: Bytes) -> Self {
        Self { content, ..self }
    }

    /// The same file, coded so beforehand.
    #[must_use]
    pub fn coded(mut self, coding: Coding) -> Self {
        // Other bytes need another strong tag.
        let suffix = coding.suffix().trim_start_matches('.');
        if !suffix.is_empty() {
            self.tag.insert_str(self.tag.len() - 1, &format!("-{suffix}"));
        }
        self.coding = Some(coding);
        self
    }

    /// The file, or 304 when the client has it.
    pub fn answer(&self, preconditions: &Preconditions) -> Response {
        let mut response = if let Some(tag) = preconditions.known(&self.tag) {
            not_modified(&tag)
        } else {
            let mut response = Response::new(Body::from(self.content.clone()));
            insert(response.headers_mut(), header::CONTENT_TYPE, self.media_type);
            insert(response.headers_mut(), header::ETAG, &self.tag);
            if let Some(coding) = self.coding.and_then(Coding::header) {
                response.headers_mut().insert(header::CONTENT_ENCODING, coding);
            }
            response
        };
        if self.coding.is_some() {
            response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        }
        response.headers_mut().insert(header::CACHE_CONTROL, self.keep.header());
        response
    }
}

/// Sends a browser on to this path of our own.
pub fn redirect(path: &str) -> Response {
    let mut response = StatusCode::PERMANENT_REDIRECT.into_response();
    insert(response.headers_mut(), header::LOCATION, path);
    response.headers_mut().insert(header::CACHE_CONTROL, Keep::Never.header());
    response
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "geojson" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webp" => "image/webp",
        "woff2" => "font/woff2",
        "webmanifest" => "application/manifest+json",
        "wasm" => "application/wasm",
        "pbf" | "mvt" => "application/x-protobuf",
        _ => "text/plain; charset=utf-8",
    }
}
