//! The console's page and its files. Every URL that is neither a file nor part of the API is a page of the console,
//! which evaluates the URL itself.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read as _;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{OriginalUri, Request};
use bytes::Bytes;
use flate2::read::GzDecoder;
use http::{HeaderMap, Method};
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use rust_embed::RustEmbed;
use sha2::{Digest as _, Sha256};

use super::policy::PagePolicy;
use crate::config::BaseUrl;
use crate::http::embedded::{EmbeddedFile, Keep, redirect};
use crate::http::encoding::content_encoding::ContentEncoding;
use crate::http::middleware::nothing_here;
use crate::http::prelude::*;
use crate::map_layers::{CurrentLayers, OpenLayers};

/// The console as it was built. A file that compresses well is embedded only in its compressed forms, `.br` and `.gz`.
#[derive(RustEmbed)]
#[folder = "assets/console"]
struct Built;

/// First segments of URLs that are never pages of the console.
const NOT_PAGES: [&str; 7] = ["api", ".well-known", "healthz", "readyz", "metrics", "gateways", "pages"];
const INDEX: &str = "index.html";
/// The first segment of pages of share links.
const SHARED: &str = "shared";
/// The characters of the hash that the build puts into names.
const HASH_CHARS: usize = 8;

/// Where the console's files come from: content and hash, by name.
type Files = fn(&str) -> Option<(Cow<'static, [u8]>, [u8; 32])>;

/// The console, ready to be served.
#[derive(Clone, Debug)]
pub struct Console(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    prefix: String,
    /// None if the build has no page.
    index: Option<EmbeddedFile>,
    /// For the layers at this time.
    policy: Mutex<Option<(Arc<OpenLayers>, PagePolicy)>>,
    files: Files,
    /// Files decompressed for clients that accept no compression, kept so that each is decompressed once.
    unpacked: Mutex<HashMap<String, Bytes>>,
}

impl Console {
    /// The console under this base URL.
    pub fn new(base_url: &BaseUrl) -> Self {
        Self::of(base_url, built)
    }

    fn of(base_url: &BaseUrl, files: Files) -> Self {
        let prefix = base_url.prefix().to_owned();
        let index = files(INDEX).map(|(content, _)| {
            let page = with_base(&String::from_utf8_lossy(&content), &prefix).into_bytes();
            let hash = Sha256::digest(&page).into();
            EmbeddedFile::new(INDEX, page.into(), hash, Keep::Never)
        });
        Self(Arc::new(Parts { prefix, index, policy: Mutex::default(), files, unpacked: Mutex::default() }))
    }

    /// The file or page of the console at this path.
    fn answer(
        &self,
        path: &str,
        headers: &HeaderMap,
        known: &Preconditions,
        policy: &PagePolicy,
    ) -> ApiResult<Response> {
        let path = percent_decode_str(path).decode_utf8().map_err(|_not_text| nothing_here())?;
        let name = path.strip_prefix('/').ok_or_else(nothing_here)?;
        let first = name.split('/').next().unwrap_or_default();
        if NOT_PAGES.iter().any(|other| other.eq_ignore_ascii_case(first)) || name.starts_with('/') {
            return Err(nothing_here());
        }
        let is_file = first == "assets" || name.rsplit('/').next().is_some_and(|last| last.contains('.'));
        let response = if is_file && name != INDEX {
            self.file(name, headers).ok_or_else(nothing_here)?.answer(known)
        } else {
            let index = self.0.index.as_ref();
            index
                .ok_or_else(|| internal("the program was built without the console's index page"))?
                .answer(known)
        };
        Ok(policy.put_on(response, first == SHARED))
    }

    /// The policy that allows the tile servers of the layers in use.
    fn policy(&self, layers: &CurrentLayers) -> PagePolicy {
        let open = layers.get();
        let mut policy = self.0.policy.lock();
        match &*policy {
            Some((known, policy)) if Arc::ptr_eq(known, &open) => policy.clone(),
            _ => {
                let made = PagePolicy::new(&layers.direct_origins(&open));
                *policy = Some((open, made.clone()));
                made
            }
        }
    }

    /// A file in the smallest encoding that the client accepts.
    fn file(&self, name: &str, headers: &HeaderMap) -> Option<EmbeddedFile> {
        // The compressed files are not served under their own paths.
        if ContentEncoding::COMPRESSING.iter().any(|encoding| name.ends_with(encoding.suffix())) {
            return None;
        }
        let keep = if is_hashed(name) { Keep::Forever } else { Keep::Never };
        let packed = |encoding: ContentEncoding| (self.0.files)(&format!("{name}{}", encoding.suffix()));
        if let Some((gzip, hash)) = packed(ContentEncoding::Gzip) {
            return ContentEncoding::accepted(headers).into_iter().find_map(|encoding| {
                let file = match encoding {
                    ContentEncoding::Plain => EmbeddedFile::new(name, Cow::Borrowed(&[]), hash, keep)
                        .with_content(self.unpack(name, &gzip)?),
                    ContentEncoding::Brotli | ContentEncoding::Gzip => {
                        let (content, hash) = packed(encoding)?;
                        EmbeddedFile::new(name, content, hash, keep)
                    }
                };
                Some(file.encoded(encoding))
            });
        }
        // Without precompressed files the compression layer decides.
        let (content, hash) = (self.0.files)(name)?;
        Some(EmbeddedFile::new(name, content, hash, keep))
    }

    /// The content of a compressed file.
    fn unpack(&self, name: &str, gzip: &[u8]) -> Option<Bytes> {
        let mut unpacked = self.0.unpacked.lock();
        if let Some(content) = unpacked.get(name) {
            return Some(content.clone());
        }
        let mut content = Vec::new();
        GzDecoder::new(gzip).read_to_end(&mut content).ok()?;
        let content = Bytes::from(content);
        unpacked.insert(name.to_owned(), content.clone());
        Some(content)
    }
}

fn built(name: &str) -> Option<(Cow<'static, [u8]>, [u8; 32])> {
    Built::get(name).map(|file| (file.data, file.metadata.sha256_hash()))
}

/// The page with a `<base>` for its relative links. It replaces the `<base>` of the build, or is inserted before all
/// links.
fn with_base(page: &str, prefix: &str) -> String {
    let root = prefix.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let base = format!("<base href=\"{root}/\">");
    let built = page.find("<base ").and_then(|begin| {
        let length = page.get(begin..)?.find('>')? + 1;
        Some((page.get(..begin)?, page.get(begin + length..)?))
    });
    match built {
        Some((before, after)) => format!("{before}{base}{after}"),
        None => page.replacen("<head>", &format!("<head>\n    {base}"), 1),
    }
}

/// Whether the build put a hash of the content into this name, as in `assets/index-B3xZ9_kq.js`. Eight lower-case
/// letters are a word, not a hash.
fn is_hashed(name: &str) -> bool {
    let Some((stem, _)) = name.strip_prefix("assets/").and_then(|file| file.rsplit_once('.')) else {
        return false;
    };
    let Some((before, hash)) = stem.len().checked_sub(HASH_CHARS).and_then(|at| stem.split_at_checked(at))
    else {
        return false;
    };
    before.len() > 1
        && before.ends_with('-')
        && hash.bytes().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, b'-' | b'_'))
        && !hash.bytes().all(|sign| sign.is_ascii_lowercase())
}

/// Answers paths without a route: with a file or the page of the console, or with 404.
pub async fn get_console(
    State(app): State<App>,
    Extension(console): Extension<Console>,
    OriginalUri(original): OriginalUri,
    known: Preconditions,
    request: Request,
) -> ApiResult<Response> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(nothing_here());
    }
    let prefix = &console.0.prefix;
    if !prefix.is_empty() && original.path() == prefix {
        return Ok(redirect(&format!("{prefix}/")));
    }
    let policy = console.policy(&app.maps.layers);
    console.answer(request.uri().path(), request.headers(), &known, &policy)
}

#[cfg(test)]
mod tests;
