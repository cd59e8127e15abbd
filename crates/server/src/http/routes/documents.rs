//! The description of the API for machines, and the reference page that shows it to people.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use rust_embed::RustEmbed;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::app::App;
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

/// The description of the API as it is served, made once.
#[derive(Clone, Debug)]
pub struct ApiDocument(Arc<EmbeddedFile>);

impl ApiDocument {
    /// The served form of this document.
    pub fn new(document: &Value) -> Self {
        let content = document.to_string().into_bytes();
        let hash = Sha256::digest(&content).into();
        Self(Arc::new(EmbeddedFile::new("openapi.json", content.into(), hash, Keep::Never)))
    }
}

/// The description of the API.
pub async fn get_openapi(
    Extension(document): Extension<ApiDocument>,
    preconditions: Preconditions,
) -> Response {
    document.0.answer(&preconditions)
}

/// The reference page.
pub async fn get_reference(preconditions: Preconditions) -> ApiResult<Response> {
    let page = file("index.html", Keep::Never).ok_or_else(|| internal("the reference page is missing"))?;
    Ok(page.answer(&preconditions))
}

/// The reference page's files. The page's own links are relative, so that it has one address only.
pub async fn get_reference_file(
    TextPath(name): TextPath,
    preconditions: Preconditions,
) -> ApiResult<Response> {
    let file = file(&name, Keep::Long).filter(|_| name != "index.html").ok_or_else(nothing_here)?;
    Ok(file.answer(&preconditions))
}

/// The reference page with a slash too many.
pub async fn redirect_to_reference(State(app): State<App>) -> Response {
    redirect(&format!("{}/api/docs", app.base_url.prefix()))
}

fn file(name: &str, keep: Keep) -> Option<EmbeddedFile> {
    let file = Reference::get(name)?;
    Some(EmbeddedFile::new(name, file.data, file.metadata.sha256_hash(), keep))
}
