// Code of the renderer that it does not export: how it enlarges tiles and reads shapes.
export { loadGeometry } from '../../node_modules/maplibre-gl/src/data/load_geometry.ts'
export { sliceVectorTileLayer } from '../../node_modules/maplibre-gl/src/source/vector_tile_overzoomed.ts'
export { CanonicalTileID } from '../../node_modules/maplibre-gl/src/tile/tile_id.ts'
