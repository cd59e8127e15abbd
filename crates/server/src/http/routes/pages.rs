//! The page for setting a password, and the icon of all pages.

use std::sync::LazyLock;

use http::HeaderMap;
use rust_embed::RustEmbed;

use crate::http::embedded::Keep;
use crate::http::encoding::compressed_file::{CompressedFiles, compressed_files};
use crate::http::extract::TextPath;
use crate::http::middleware::nothing_here;
use crate::http::prelude::*;

/// The pages and the files that they load.
#[derive(RustEmbed)]
#[folder = "assets/pages"]
struct Pages;

/// The page for setting a password, which is served at `/password` and not by its file name.
const PASSWORD: &str = "password.html";

static FILES: LazyLock<CompressedFiles> = LazyLock::new(|| {
    compressed_files::<Pages>(|name| if name == PASSWORD { Keep::Never } else { Keep::Long })
});

/// The page on which the user of a link chooses a password. The secret of the link is in the fragment of the URL, so
/// that browsers do not send it before it is used.
pub async fn get_password_page(headers: HeaderMap, preconditions: Preconditions) -> ApiResult<Response> {
    let page = FILES
        .get(PASSWORD)
        .ok_or_else(|| internal("the program was built without the page to set a password"))?;
    Ok(page.answer(&headers, &preconditions).await)
}

/// A file that the pages load.
pub async fn get_page_file(
    TextPath(name): TextPath,
    headers: HeaderMap,
    preconditions: Preconditions,
) -> ApiResult<Response> {
    let file = FILES.get(&*name).filter(|_| name != PASSWORD).ok_or_else(nothing_here)?;
    Ok(file.answer(&headers, &preconditions).await)
}

/// The icon of pages that do not name one.
pub async fn get_icon(headers: HeaderMap, preconditions: Preconditions) -> ApiResult<Response> {
    let icon = FILES.get("icon.svg").ok_or_else(nothing_here)?;
    Ok(icon.answer(&headers, &preconditions).await)
}
