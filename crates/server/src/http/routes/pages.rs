//! The service's own few pages: the landing page, and the one that links to set a password lead to.

use axum::extract::{OriginalUri, State};
use axum::response::Response;
use rust_embed::RustEmbed;

use crate::app::App;
use crate::http::embedded::{EmbeddedFile, Keep, redirect};
use crate::http::error::{ApiResult, internal};
use crate::http::extract::{Preconditions, TextPath};
use crate::http::middleware::nothing_here;

/// The pages and what they load.
#[derive(RustEmbed)]
#[folder = "assets/pages"]
struct Pages;

/// The files that have an address of their own.
const PAGES: [&str; 2] = ["index.html", "password.html"];

/// The landing page.
pub async fn get_landing(
    State(app): State<App>,
    OriginalUri(uri): OriginalUri,
    preconditions: Preconditions,
) -> ApiResult<Response> {
    let prefix = app.base_url.prefix();
    // The page's links are relative: without the slash they would lead out of the prefix.
    if !prefix.is_empty() && uri.path() == prefix {
        return Ok(redirect(&format!("{prefix}/")));
    }
    page("index.html", &preconditions)
}

/// The page on which somebody with a link chooses a password. The link's secret stays in the browser until it
/// is used: it stands behind the #.
pub async fn get_password_page(preconditions: Preconditions) -> ApiResult<Response> {
    page("password.html", &preconditions)
}

/// What the pages load.
pub async fn get_page_file(TextPath(name): TextPath, preconditions: Preconditions) -> ApiResult<Response> {
    let file =
        file(&name, Keep::Long).filter(|_| !PAGES.contains(&name.as_str())).ok_or_else(nothing_here)?;
    Ok(file.answer(&preconditions))
}

/// The icon of pages that name none.
pub async fn get_icon(preconditions: Preconditions) -> ApiResult<Response> {
    Ok(file("icon.svg", Keep::Long).ok_or_else(nothing_here)?.answer(&preconditions))
}

fn page(name: &'static str, preconditions: &Preconditions) -> ApiResult<Response> {
    let page = file(name, Keep::Never).ok_or_else(|| internal(format!("the page {name} is missing")))?;
    Ok(page.answer(preconditions))
}

fn file(name: &str, keep: Keep) -> Option<EmbeddedFile> {
    let file = Pages::get(name)?;
    Some(EmbeddedFile::new(name, file.data, file.metadata.sha256_hash(), keep))
}
