//! Serves the bundled map by ranges, and the named places that the console searches.

use std::borrow::Cow;
use std::io::Read as _;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use http::HeaderMap;
use perigee_core::locations::place;
use sha2::{Digest as _, Sha256};

use super::tiles::answer_range;
use crate::http::embedded::{EmbeddedFile, Keep};
use crate::http::encoding::content_encoding::ContentEncoding;
use crate::http::middleware::nothing_here;
use crate::http::prelude::*;

/// A part of the tiles of the bundled map.
pub async fn get_bundled_tiles(State(app): State<App>, headers: HeaderMap) -> ApiResult<Response> {
    answer_range(app.maps.bundled.clone().ok_or_else(nothing_here)?, &headers).await
}

/// The named places as embedded in the program, gzipped.
static PACKED: LazyLock<EmbeddedFile> =
    LazyLock::new(|| places(place::FILE.into()).encoded(ContentEncoding::Gzip));
/// The same for clients that do not accept gzip; decompressed on the first request.
static UNPACKED: LazyLock<EmbeddedFile> = LazyLock::new(|| {
    let mut plain = Vec::new();
    // The file is part of the program, and a test reads it.
    let _length = GzDecoder::new(place::FILE).read_to_end(&mut plain);
    places(plain.into()).encoded(ContentEncoding::Plain)
});

fn places(content: Cow<'static, [u8]>) -> EmbeddedFile {
    EmbeddedFile::new("places.bin", content, Sha256::digest(place::FILE).into(), Keep::Long)
}

/// The named places that the console searches.
pub async fn get_places(headers: HeaderMap, known: Preconditions) -> Response {
    let accepts_gzip = ContentEncoding::accepted(&headers).contains(&ContentEncoding::Gzip);
    let file = if accepts_gzip { &*PACKED } else { &*UNPACKED };
    file.answer(&known)
}
