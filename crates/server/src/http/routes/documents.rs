//! The OpenAPI document, and the reference page that displays it.

use std::sync::{Arc, LazyLock, OnceLock};

use axum::Extension;
use http::HeaderMap;
use rust_embed::RustEmbed;
use sha2::{Digest, Sha256};

use crate::http::embedded::{EmbeddedFile, Keep, redirect};
use crate::http::encoding::compressed_file::{CompressedFile, CompressedFiles, compressed_files};
use crate::http::extract::TextPath;
use crate::http::middleware::nothing_here;
use crate::http::prelude::*;
use crate::http::router::api_document;

/// The embedded files of the reference page.
#[derive(RustEmbed)]
#[folder = "assets/docs"]
struct Reference;

/// The page itself, which is served at `/api/docs` and not by its file name.
const INDEX: &str = "index.html";

/// The files of the page by name. They can be requested without signing in, so each is compressed only once.
static FILES: LazyLock<CompressedFiles> = LazyLock::new(|| {
    compressed_files::<Reference>(|name| if name == INDEX { Keep::Never } else { Keep::Long })
});

/// The OpenAPI document as it is served, serialised and hashed when it is first requested.
#[derive(Clone, Debug)]
pub struct ApiDocument {
    base_url: String,
    file: Arc<OnceLock<CompressedFile>>,
}

impl ApiDocument {
    /// The document as served under this address.
    pub fn new(base_url: &str) -> Self {
        Self { base_url: base_url.to_owned(), file: Arc::default() }
    }

    fn file(&self) -> &CompressedFile {
        self.file.get_or_init(|| {
            let content = api_document(&self.base_url).to_string().into_bytes();
            let hash = Sha256::digest(&content).into();
            CompressedFile::new(EmbeddedFile::new("openapi.json", content.into(), hash, Keep::Never))
        })
    }
}

/// Answers with the OpenAPI document.
pub async fn get_openapi(
    Extension(document): Extension<ApiDocument>,
    headers: HeaderMap,
    preconditions: Preconditions,
) -> Response {
    document.file().answer(&headers, &preconditions).await
}

/// Answers with the reference page.
pub async fn get_reference(headers: HeaderMap, preconditions: Preconditions) -> ApiResult<Response> {
    let page =
        FILES.get(INDEX).ok_or_else(|| internal("the program was built without the reference page"))?;
    Ok(page.answer(&headers, &preconditions).await)
}

/// Answers with a file of the reference page. The page itself is not found here: its links are relative and work only
/// at its own address.
pub async fn get_reference_file(
    TextPath(name): TextPath,
    headers: HeaderMap,
    preconditions: Preconditions,
) -> ApiResult<Response> {
    let file = FILES.get(&*name).filter(|_| name != INDEX).ok_or_else(nothing_here)?;
    Ok(file.answer(&headers, &preconditions).await)
}

/// Redirects `/api/docs/` to the reference page, whose relative links would not work there.
pub async fn redirect_to_reference(State(app): State<App>) -> Response {
    redirect(&format!("{}/api/docs", app.base_url.prefix()))
}
