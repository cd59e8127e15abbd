//! The description of the API for machines, and the reference page that shows it to people.

use std::sync::{Arc, LazyLock};

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use rust_embed::RustEmbed;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::http::compressed_file::{CompressedFile, CompressedFiles, compressed_files};
use crate::http::embedded::{EmbeddedFile, Keep, redirect};
use crate::http::error::{ApiResult, internal};
use crate::http::extract::{Preconditions, TextPath};
use crate::http::middleware::nothing_here;

/// The reference page.
#[derive(RustEmbed)]
#[folder = "assets/docs"]
#[exclude = "README.md"]
#[exclude = "vendor.sha256"]
struct Reference;

/// It has an address of its own.
const INDEX: &str = "index.html";

/// The files of the page. Strangers may ask for them: each form is compressed once.
static FILES: LazyLock<CompressedFiles> = LazyLock::new(|| {
    compressed_files::<Reference>(|name| if name == INDEX { Keep::Never } else { Keep::Long })
});

/// The description of the API as it is served, made once.
#[derive(Clone, Debug)]
pub struct ApiDocument(Arc<CompressedFile>);

impl ApiDocument {
    /// The served form of this document.
    pub fn new(document: &Value) -> Self {
        let content = document.to_string().into_bytes();
        let hash = Sha256::digest(&content).into();
        let plain = EmbeddedFile::new("openapi.json", content.into(), hash, Keep::Never);
        Self(Arc::new(CompressedFile::new(plain)))
    }
}

/// The description of the API.
pub async fn get_openapi(
    Extension(document): Extension<ApiDocument>,
    headers: HeaderMap,
    preconditions: Preconditions,
) -> Response {
    document.0.answer(&headers, &preconditions).await
}

/// The reference page.
pub async fn get_reference(headers: HeaderMap, preconditions: Preconditions) -> ApiResult<Response> {
    let page = FILES.get(INDEX).ok_or_else(|| internal("the reference page is missing"))?;
    Ok(page.answer(&headers, &preconditions).await)
}

/// The reference page's files. The page's own links are relative, so that it has one address only.
pub async fn get_reference_file(
    TextPath(name): TextPath,
    headers: HeaderMap,
    preconditions: Preconditions,
) -> ApiResult<Response> {
    let file = FILES.get(&*name).filter(|_| name != INDEX).ok_or_else(nothing_here)?;
    Ok(file.answer(&headers, &preconditions).await)
}

/// The reference page with a slash too many.
pub async fn redirect_to_reference(State(app): State<App>) -> Response {
    redirect(&format!("{}/api/docs", app.base_url.prefix()))
}
