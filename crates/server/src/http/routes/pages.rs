//! The page for setting a password, and the icon of all pages.

use std::sync::LazyLock;

use axum::response::Response;
use http::HeaderMap;
use rust_embed::RustEmbed;

use crate::http::compressed_file::{CompressedFiles, compressed_files};
use crate::http::embedded::Keep;
use crate::http::error::{ApiResult, internal};
use crate::http::extract::{Preconditions, TextPath};
use crate::http::middleware::nothing_here;

/// The pages and what they load.
#[derive(RustEmbed)]
#[folder = "assets/pages"]
struct Pages;

/// It has an address of its own.
const PASSWORD: &str = "password.html";

static FILES: LazyLock<CompressedFiles> = LazyLock::new(|| {
    compressed_files::<Pages>(|name| if name == PASSWORD { Keep::Never } else { Keep::Long })
});

/// The page on which somebody with a link chooses a password. The link's secret stays in the browser until it
/// is used: it stands behind the #.
pub async fn get_password_page(headers: HeaderMap, preconditions: Preconditions) -> ApiResult<Response> {
    let page = FILES.get(PASSWORD).ok_or_else(|| internal("the page to set a password is missing"))?;
    Ok(page.answer(&headers, &preconditions).await)
}

/// What the pages load.
pub async fn get_page_file(
    TextPath(name): TextPath,
    headers: HeaderMap,
    preconditions: Preconditions,
) -> ApiResult<Response> {
    let file = FILES.get(&*name).filter(|_| name != PASSWORD).ok_or_else(nothing_here)?;
    Ok(file.answer(&headers, &preconditions).await)
}

/// The icon of pages that name none.
pub async fn get_icon(headers: HeaderMap, preconditions: Preconditions) -> ApiResult<Response> {
    let icon = FILES.get("icon.svg").ok_or_else(nothing_here)?;
    Ok(icon.answer(&headers, &preconditions).await)
}
