// The bundled map, every tile of it, filled by the renderer's own rules at zooms 5 to 11: land is never drawn as sea. The
// renderer enlarges tiles by cutting and scaling them, and tells exteriors from holes by the direction of rings.
import { classifyRings } from '@maplibre/maplibre-gl-style-spec'
import type Point from '@mapbox/point-geometry'
import { VectorTile, type VectorTileLayer } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { PMTiles, type Source } from 'pmtiles'
import { expect, test } from 'vitest'
import { CanonicalTileID, sliceVectorTileLayer, type Shapes } from './renderer.mjs'

/** PERIGEE_WHOLE_WORLD=1 checks every enlarged tile; otherwise those of the last two zooms by sample. */
const isWhole = process.env.PERIGEE_WHOLE_WORLD === '1'
const file = readFileSync(new URL('../../../map/world.pmtiles', import.meta.url))
const levels = [
  { zoom: 5, until: 6 },
  { zoom: 7, until: 11 }
]

const source: Source = {
  getKey: () => 'world',
  getBytes: (offset, length) => Promise.resolve({ data: new Uint8Array(file.subarray(offset, offset + length)).buffer })
}
const unpack = (bytes: ArrayBuffer): Promise<ArrayBuffer> =>
  Promise.resolve(new Uint8Array(gunzipSync(new Uint8Array(bytes))).buffer)
const map = new PMTiles(source, undefined, unpack)

async function landOf(z: number, x: number, y: number): Promise<VectorTileLayer | undefined> {
  const tile = await map.getZxy(z, x, y)
  return tile && new VectorTile(new PbfReader(new Uint8Array(tile.data))).layers.land
}

/** Whether a point lies inside an odd number of rings. */
function isInside(rings: Point[][], x: number, y: number): boolean {
  let inside = false
  for (const ring of rings) {
    for (let index = 0, before = ring.length - 1; index < ring.length; before = index++) {
      const a = ring[index]!
      const b = ring[before]!
      if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) inside = !inside
    }
  }
  return inside
}

const shapesOf = (layer: Shapes): Point[][][] =>
  Array.from({ length: layer.length }, (_, index) => layer.feature(index).loadGeometry())

/** Rings of one polygon that the renderer draws at most. */
const mostRings = 500

/** Points of a tile at which fills are compared, in shares of its side. */
const points = [0.07, 0.29, 0.51, 0.73, 0.95].flatMap((x) => [0.05, 0.27, 0.49, 0.71, 0.93].map((y) => [x, y] as const))

/** Whether the renderer fills a tile, enlarged from that of another zoom, otherwise than its shapes say. */
function isWrong(land: VectorTileLayer, shapes: Point[][][], base: CanonicalTileID, target: CanonicalTileID): boolean {
  const { extent } = land
  const sliced = target.z === base.z ? land : sliceVectorTileLayer(land, base, target)
  const filled = shapesOf(sliced).flatMap((rings) => classifyRings(rings, mostRings))
  const scale = 2 ** (target.z - base.z)
  const wrong = points.filter(([x, y]) => {
    const [atX, atY] = [((target.x + x) / scale - base.x) * extent, ((target.y + y) / scale - base.y) * extent]
    const expected = shapes.some((rings) => isInside(rings, atX, atY))
    const drawn = filled.some(
      ([outer, ...holes]) =>
        outer && isInside([outer], x * extent, y * extent) && !isInside(holes, x * extent, y * extent)
    )
    return drawn !== expected
  })
  // A point on a coast may fall on either side of it.
  return wrong.length > 2
}

test('land is land in every tile at every zoom', { timeout: 3_600_000 }, async () => {
  const wrong: string[] = []
  let checked = 0
  for (const { zoom, until } of levels) {
    for (let x = 0; x < 2 ** zoom; x++) {
      for (let y = 0; y < 2 ** zoom; y++) {
        const land = await landOf(zoom, x, y)
        if (!land) continue
        const shapes = shapesOf(land)
        const base = new CanonicalTileID(zoom, x, y)
        for (let z = zoom; z <= until; z++) {
          const scale = 2 ** (z - zoom)
          const step = isWhole || scale < 4 ? 1 : scale < 8 ? 7 : 97
          for (let index = (x + 3 * y) % step; index < scale * scale; index += step) {
            const target = new CanonicalTileID(z, x * scale + (index % scale), y * scale + Math.floor(index / scale))
            checked++
            if (isWrong(land, shapes, base, target)) wrong.push(`${z}/${target.x}/${target.y}`)
          }
        }
      }
    }
  }
  expect(checked).toBeGreaterThan(50_000)
  expect(wrong).toEqual([])
})
