// Types of what renderer.mjs takes from the renderer, whose sources are not checked here.
import type Point from '@mapbox/point-geometry'
import type { VectorTileLayer } from '@mapbox/vector-tile'

export class CanonicalTileID {
  constructor(z: number, x: number, y: number)
  readonly z: number
  readonly x: number
  readonly y: number
}

export interface Shapes {
  length: number
  extent: number
  feature(index: number): { loadGeometry(): Point[][] }
}

export function sliceVectorTileLayer(layer: VectorTileLayer, base: CanonicalTileID, target: CanonicalTileID): Shapes
