//! Serves the files of the bundled map from its folder.

use std::io::Read as _;

use axum::extract::State;
use axum::response::Response;
use flate2::read::GzDecoder;
use http::HeaderMap;
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::bundled_map::INDEX;
use crate::http::content_encoding::ContentEncoding;
use crate::http::embedded::{EmbeddedFile, Keep};
use crate::http::error::{ApiResult, internal};
use crate::http::extract::{Preconditions, TextPath};
use crate::http::middleware::nothing_here;

/// The list of packs where there is no folder: the console then draws only the map of the program itself.
const NO_PACKS: &[u8] = br#"{"region":"","local":""}"#;

/// A file of the bundled map. The list of its packs is always there; without a folder it is empty.
pub async fn get_bundled_file(
    State(app): State<App>,
    TextPath(name): TextPath,
    headers: HeaderMap,
    known: Preconditions,
) -> ApiResult<Response> {
    let takes_gzip = takes_gzip(&headers);
    let read = move || read(&app, &name, takes_gzip);
    let file = tokio::task::spawn_blocking(read).await.map_err(internal)??;
    Ok(file.ok_or_else(nothing_here)?.answer(&known))
}

fn read(app: &App, name: &str, takes_gzip: bool) -> ApiResult<Option<EmbeddedFile>> {
    let stored = app.bundled_map.as_ref().map(|map| map.read(name)).transpose().map_err(internal)?.flatten();
    if name == INDEX {
        let index = stored.unwrap_or_else(|| NO_PACKS.to_vec());
        let hash = Sha256::digest(&index).into();
        return Ok(Some(EmbeddedFile::new(name, index.into(), hash, Keep::Never)));
    }
    let Some(stored) = stored else { return Ok(None) };
    let hash = Sha256::digest(&stored).into();
    let file = if takes_gzip {
        EmbeddedFile::new(name, stored.into(), hash, Keep::Long).encoded(ContentEncoding::Gzip)
    } else {
        let mut plain = Vec::new();
        GzDecoder::new(&*stored).read_to_end(&mut plain).map_err(internal)?;
        EmbeddedFile::new(name, plain.into(), hash, Keep::Long).encoded(ContentEncoding::Plain)
    };
    Ok(Some(file))
}

/// Whether the client takes the files as they are stored.
fn takes_gzip(headers: &HeaderMap) -> bool {
    ContentEncoding::taken(headers).contains(&ContentEncoding::Gzip)
}
