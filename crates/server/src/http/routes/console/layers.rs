//! Tiles of the operator layers: ranges of files, and tiles that this server fetches from tile servers.

use axum::body::Body;
use axum::extract::Path;
use axum::response::IntoResponse as _;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::tiles::answer_range;
use crate::budget::Payer;
use crate::http::extract::{MapViewer, TextPath};
use crate::http::held_answer::hold;
use crate::http::middleware::nothing_here;
use crate::http::prelude::*;
use crate::map_layers::{LayerTiles, Tile, TileAddress, TileError};

/// Answers a range of a layer's file.
pub async fn get_layer_file(
    State(app): State<App>,
    TextPath(id): TextPath,
    headers: HeaderMap,
) -> ApiResult<Response> {
    match app.maps.layers.get().layers.find(&id).map(|layer| &layer.tiles) {
        Some(LayerTiles::File(tiles)) => answer_range(tiles.clone(), &headers).await,
        _ => Err(nothing_here()),
    }
}

/// Answers a tile of a proxied layer, for users and viewers of share links only, because the operator pays for what is
/// fetched. If the tile server has no such tile, the answer is empty, which maps show as an empty tile.
pub async fn get_layer_tile(
    State(app): State<App>,
    MapViewer { payer }: MapViewer,
    Path((id, z, x, y)): Path<(String, String, String, String)>,
) -> ApiResult<Response> {
    let open = app.maps.layers.get();
    let layer = open.layers.find(&id).filter(|layer| matches!(layer.tiles, LayerTiles::Proxied));
    let (layer, proxy) = layer.zip(open.proxy.as_ref()).ok_or_else(nothing_here)?;
    let zooms = (layer.settings.min_zoom, layer.settings.max_zoom);
    let address = TileAddress::read((&z, &x, &y), zooms).ok_or_else(nothing_here)?;
    match proxy.tile(layer, address, (&app.budget.tiles, payer), app.clock.now()).await {
        Ok(tile) => answer(&app, payer, tile),
        Err(TileError::Missing) => Ok(StatusCode::NO_CONTENT.into_response()),
        Err(TileError::Exhausted(exhausted)) => Err(exhausted.into()),
        Err(TileError::Unreachable(why)) => {
            tracing::debug!(layer = layer.settings.name, why, "no tile");
            Err(ApiError::new(
                ErrorCode::Unavailable,
                "The tile server of this map layer does not answer. Try again later, or choose another map.",
            )
            .with_header(header::RETRY_AFTER, "10"))
        }
    }
}

fn answer(app: &App, payer: Payer, tile: Tile) -> ApiResult<Response> {
    let mut response = Response::new(Body::from(hold(app, payer, tile.bytes)?));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::try_from(tile.content_type).map_err(internal)?);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=86400"));
    if tile.is_gzipped {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}
