// Code of the renderer that it does not export: how it enlarges tiles.
export { sliceVectorTileLayer } from '../../node_modules/maplibre-gl/src/source/vector_tile_overzoomed.ts'
export { CanonicalTileID } from '../../node_modules/maplibre-gl/src/tile/tile_id.ts'
