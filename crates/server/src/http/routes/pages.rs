//! The page that links to set a password lead to, and the icon of all pages.

use axum::response::Response;
use rust_embed::RustEmbed;

use crate::http::embedded::{EmbeddedFile, Keep};
use crate::http::error::{ApiResult, internal};
use crate::http::extract::{Preconditions, TextPath};
use crate::http::middleware::nothing_here;

/// The pages and what they load.
#[derive(RustEmbed)]
#[folder = "assets/pages"]
struct Pages;

/// It has an address of its own.
const PASSWORD: &str = "password.html";

/// The page on which somebody with a link chooses a password. The link's secret stays in the browser until it
/// is used: it stands behind the #.
pub async fn get_password_page(preconditions: Preconditions) -> ApiResult<Response> {
    let page =
        file(PASSWORD, Keep::Never).ok_or_else(|| internal("the page to set a password is missing"))?;
    Ok(page.answer(&preconditions))
}

/// What the pages load.
pub async fn get_page_file(TextPath(name): TextPath, preconditions: Preconditions) -> ApiResult<Response> {
    let file = file(&name, Keep::Long).filter(|_| name != PASSWORD).ok_or_else(nothing_here)?;
    Ok(file.answer(&preconditions))
}

/// The icon of pages that name none.
pub async fn get_icon(preconditions: Preconditions) -> ApiResult<Response> {
    Ok(file("icon.svg", Keep::Long).ok_or_else(nothing_here)?.answer(&preconditions))
}

fn file(name: &str, keep: Keep) -> Option<EmbeddedFile> {
    let file = Pages::get(name)?;
    Some(EmbeddedFile::new(name, file.data, file.metadata.sha256_hash(), keep))
}
