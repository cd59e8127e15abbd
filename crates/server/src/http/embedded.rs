//! Embedded files, answered with an entity tag and a `Cache-Control` header.

use std::borrow::Cow;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::extract::Preconditions;
use super::reply::not_modified;
use crate::http::encoding::compressed_file::into_bytes;
use crate::http::encoding::content_encoding::ContentEncoding;

/// How long a client may cache a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Revalidated on every use; answered with 304 while unchanged.
    Never,
    /// A day, and a week more while it is revalidated: the file name does not change with its content.
    Long,
    /// Immutable: the file name contains a hash of the content.
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

/// A file with the headers of its answer.
#[derive(Clone, Debug)]
pub struct EmbeddedFile {
    content: Bytes,
    media_type: &'static str,
    tag: String,
    keep: Keep,
    /// None if the compression layer chooses the encoding.
    encoding: Option<ContentEncoding>,
}

impl EmbeddedFile {
    /// The media type follows from the name, the entity tag from the hash.
    pub fn new(name: &str, content: Cow<'static, [u8]>, hash: [u8; 32], keep: Keep) -> Self {
        let tag = hash[..8].iter().fold(String::from("\""), |tag, byte| format!("{tag}{byte:02x}")) + "\"";
        Self { content: into_bytes(content), media_type: media_type(name), tag, keep, encoding: None }
    }

    /// The bytes in this encoding.
    pub(super) fn content(&self) -> Bytes {
        self.content.clone()
    }

    /// Length in bytes in this encoding.
    pub(super) fn len(&self) -> usize {
        self.content.len()
    }

    /// The same file with its content replaced, for example by its compressed form.
    #[must_use]
    pub(super) fn with_content(self, content: Bytes) -> Self {
        Self { content, ..self }
    }

    /// The same file, whose content is already in this encoding.
    #[must_use]
    pub fn encoded(mut self, encoding: ContentEncoding) -> Self {
        // A strong tag belongs to one sequence of bytes.
        let suffix = encoding.suffix().trim_start_matches('.');
        if !suffix.is_empty() {
            self.tag.insert_str(self.tag.len() - 1, &format!("-{suffix}"));
        }
        self.encoding = Some(encoding);
        self
    }

    /// The file, or 304 if the client's entity tag matches.
    pub fn answer(&self, preconditions: &Preconditions) -> Response {
        let mut response = if let Some(tag) = preconditions.known(&self.tag) {
            not_modified(&tag)
        } else {
            let mut response = Response::new(Body::from(self.content.clone()));
            insert(response.headers_mut(), header::CONTENT_TYPE, self.media_type);
            insert(response.headers_mut(), header::ETAG, &self.tag);
            if let Some(encoding) = self.encoding.and_then(ContentEncoding::header) {
                response.headers_mut().insert(header::CONTENT_ENCODING, encoding);
            }
            response
        };
        if self.encoding.is_some() {
            response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        }
        response.headers_mut().insert(header::CACHE_CONTROL, self.keep.header());
        response
    }
}

/// A redirect to a path of this server.
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
        "bin" => "application/octet-stream",
        "pbf" | "mvt" => "application/x-protobuf",
        _ => "text/plain; charset=utf-8",
    }
}
