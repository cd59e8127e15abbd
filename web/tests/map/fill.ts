// Fills shapes of vector tiles as the renderer does: it enlarges tiles by cutting and scaling them, tells exteriors from
// holes by the direction of rings, and fills triangles.
import { classifyRings } from '@maplibre/maplibre-gl-style-spec'
import type Point from '@mapbox/point-geometry'
import earcut from 'earcut'
import { CanonicalTileID, loadGeometry, sliceVectorTileLayer, type Shape, type Shapes } from './renderer.mjs'

export type Tile = Record<string, Shapes>

/** Units of a tile's side in the renderer. */
const extent = 8192
/** Rings of one polygon that the renderer draws at most. */
const mostRings = 500

/** Points in rows and columns over a tile, each with the number of what is drawn there last. */
export class Points {
  readonly values: Uint8Array

  constructor(readonly size: number) {
    this.values = new Uint8Array(size * size)
  }

  /** Gives values to the points that the renderer covers when it draws some shapes of a tile. */
  draw(shapes: Shapes, valueOf: (shape: Shape) => number): void {
    for (let index = 0; index < shapes.length; index++) {
      const shape = shapes.feature(index)
      if (shape.type !== 3) continue
      for (const polygon of classifyRings(loadGeometry(shape), mostRings)) this.#drawPolygon(polygon, valueOf(shape))
    }
  }

  #drawPolygon(rings: Point[][], value: number): void {
    const flat: number[] = []
    const holes: number[] = []
    for (const ring of rings) {
      if (flat.length > 0) holes.push(flat.length / 2)
      for (const { x, y } of ring) flat.push(x, y)
    }
    const corners = earcut(flat, holes)
    const at = (corner: number): [number, number] => [flat[2 * corner]!, flat[2 * corner + 1]!]
    for (let index = 0; index < corners.length; index += 3) {
      this.#drawTriangle(at(corners[index]!), at(corners[index + 1]!), at(corners[index + 2]!), value)
    }
  }

  #drawTriangle(a: [number, number], b: [number, number], c: [number, number], value: number): void {
    const step = extent / this.size
    const first = (place: number): number => Math.max(0, Math.ceil(place / step - 0.5))
    const last = (place: number): number => Math.min(this.size - 1, Math.floor(place / step - 0.5))
    for (let row = first(Math.min(a[1], b[1], c[1])); row <= last(Math.max(a[1], b[1], c[1])); row++) {
      const y = (row + 0.5) * step
      let [west, east] = [Infinity, -Infinity]
      for (const [from, to] of [
        [a, b],
        [b, c],
        [c, a]
      ] as const) {
        if (from[1] > y === to[1] > y) continue
        const x = from[0] + ((to[0] - from[0]) * (y - from[1])) / (to[1] - from[1])
        west = Math.min(west, x)
        east = Math.max(east, x)
      }
      for (let column = first(west); column <= last(east); column++) this.values[row * this.size + column] = value
    }
  }
}

interface Box {
  west: number
  east: number
  north: number
  south: number
}

/** Shapes of a tile that can be cut quickly: those outside the cut are left out before, as the renderer drops them after. */
export class Cuttable {
  readonly #boxes: Box[]

  constructor(
    readonly shapes: Shapes,
    readonly base: CanonicalTileID
  ) {
    this.#boxes = Array.from({ length: shapes.length }, (_, index) =>
      boxOf(shapes.feature(index).loadGeometry().flat())
    )
  }

  /** The shapes in a tile of the same or a larger zoom. */
  cut(target: CanonicalTileID): Shapes {
    if (target.z === this.base.z) return this.shapes
    const share = extent / 2 ** (target.z - this.base.z)
    const [west, north] = [(target.x * share) % extent, (target.y * share) % extent]
    const near = this.#boxes.flatMap((box, index) =>
      box.east < west - share ||
      box.west > west + 2 * share ||
      box.south < north - share ||
      box.north > north + 2 * share
        ? []
        : [index]
    )
    if (near.length === 0) return { length: 0, extent, feature: (index) => this.shapes.feature(index) }
    const some = { length: near.length, extent, feature: (index: number) => this.shapes.feature(near[index]!) }
    return sliceVectorTileLayer(some, this.base, target)
  }
}

function boxOf(points: Point[]): Box {
  const box = { west: Infinity, east: -Infinity, north: Infinity, south: -Infinity }
  for (const { x, y } of points) {
    box.west = Math.min(box.west, x)
    box.east = Math.max(box.east, x)
    box.north = Math.min(box.north, y)
    box.south = Math.max(box.south, y)
  }
  return box
}
