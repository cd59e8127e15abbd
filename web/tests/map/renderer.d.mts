// Types of what renderer.mjs takes from the renderer, whose sources are not checked here.
import type Point from '@mapbox/point-geometry'

export class CanonicalTileID {
  constructor(z: number, x: number, y: number)
  readonly z: number
  readonly x: number
  readonly y: number
}

export interface Shape {
  type: 0 | 1 | 2 | 3
  extent: number
  properties: Record<string, number | string | boolean>
  loadGeometry(): Point[][]
}

export interface Shapes {
  length: number
  extent: number
  feature(index: number): Shape
}

export function loadGeometry(feature: Shape): Point[][]
export function sliceVectorTileLayer(layer: Shapes, base: CanonicalTileID, target: CanonicalTileID): Shapes
