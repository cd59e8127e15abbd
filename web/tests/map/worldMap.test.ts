// The bundled map, filled by the renderer's own rules at zooms 5 to 11 and compared with its source: land is never drawn
// as sea, nor sea as land. PERIGEE_WHOLE_WORLD=1 draws every tile of all zooms; otherwise a part of them.
import type Point from '@mapbox/point-geometry'
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { gridSize } from '../../build/map/landGrid.mjs'
import { Points } from './fill'
import { CanonicalTileID, type Shape } from './renderer.mjs'
import { land, levels, sea, WorldTiles } from './worldTiles'

const isWhole = process.env.PERIGEE_WHOLE_WORLD === '1'
const file = process.env.PERIGEE_WORLD_MAP ?? new URL('../../../map/world.pmtiles', import.meta.url).pathname
const world = new WorldTiles(file)
/** Land and sea of the source; `landGrid` says what the bits are. */
const grid = brotliDecompressSync(readFileSync(new URL('land.bin', import.meta.url)))
const onCoast = 4
const timeout = 7_200_000

/** How many points of a tile are drawn otherwise than the source says. */
async function wrongPoints(tile: CanonicalTileID): Promise<number> {
  const size = gridSize / 2 ** tile.z
  const { values } = await world.drawn(tile, size)
  const finer = tile.z < levels.local ? 0 : 1
  let wrong = 0
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const source = grid[(tile.y * size + row) * gridSize + tile.x * size + column]!
      if (source === onCoast) continue
      const expected = (source >> finer) & 1 ? land : sea
      if (values[row * size + column] !== expected) wrong++
    }
  }
  return wrong
}

/** Every so many tiles of the file of one zoom. */
function* tilesOf(zoom: number, step = 1): Generator<CanonicalTileID> {
  for (let index = 0; index < 4 ** zoom; index += step) {
    yield new CanonicalTileID(zoom, index % 2 ** zoom, Math.floor(index / 2 ** zoom))
  }
}

/** What is drawn from a tile of the file at some zoom: every so many tiles. */
function* enlarged({ z, x, y }: CanonicalTileID, zoom: number, step: number): Generator<CanonicalTileID> {
  const scale = 2 ** (zoom - z)
  for (let index = (x + 3 * y) % step; index < scale ** 2; index += step) {
    yield new CanonicalTileID(zoom, x * scale + (index % scale), y * scale + Math.floor(index / scale))
  }
}

// Steps of the part that is drawn by default: odd, so that they do not meet the same columns again and again.
test.each([
  { level: levels.region, until: 6, step: 3, stepWithin: 1 },
  { level: levels.local, until: 11, step: 13, stepWithin: 5 }
])('land and sea are as in the source at zooms $level to $until', { timeout }, async (part) => {
  const wrong: string[] = []
  let checked = 0
  for (const base of tilesOf(part.level, isWhole ? 1 : part.step)) {
    for (let zoom = part.level; zoom <= part.until; zoom++) {
      for (const tile of enlarged(base, zoom, isWhole || zoom === part.level ? 1 : part.stepWithin)) {
        checked++
        const points = await wrongPoints(tile)
        if (points > 0) wrong.push(`${tile.z}/${tile.x}/${tile.y}: ${points}`)
      }
    }
  }
  expect(checked).toBeGreaterThan(1_000)
  expect(wrong).toEqual([])
})

/** A place as shares of the map's side, from the west and from the north. */
function shares(latitude: number, longitude: number): [number, number] {
  return [(longitude + 180) / 360, 0.5 - Math.asinh(Math.tan((latitude * Math.PI) / 180)) / (2 * Math.PI)]
}

const places = [
  { name: 'Madrid', zoom: 6, latitude: 40.42, longitude: -3.7 },
  { name: 'Seville', zoom: 6, latitude: 37.39, longitude: -5.99 },
  { name: 'western Turkey', zoom: 6, latitude: 38.6, longitude: 28.5 },
  { name: 'Cyprus', zoom: 6, latitude: 35.05, longitude: 33.2 },
  { name: 'Amiens', zoom: 8, latitude: 49.89, longitude: 2.3 },
  { name: 'Sinai', zoom: 10, latitude: 28.9, longitude: 33.8 },
  { name: 'McMurdo', zoom: 7, latitude: -77.85, longitude: 166.7 }
]

test.each(places)('$name is on land at zoom $zoom', async ({ zoom, latitude, longitude }) => {
  const [across, down] = shares(latitude, longitude).map((share) => share * 2 ** zoom) as [number, number]
  const tile = new CanonicalTileID(zoom, Math.floor(across), Math.floor(down))
  const { size, values } = await world.drawn(tile, 256)
  const [column, row] = [Math.floor((across - tile.x) * size), Math.floor((down - tile.y) * size)]
  expect(values[row * size + column]).toBe(land)
})

test.each(places)('land and sea around $name are as in the source at every zoom', async ({ latitude, longitude }) => {
  for (let zoom = 5; zoom <= 11; zoom++) {
    const [x, y] = shares(latitude, longitude).map((share) => Math.floor(share * 2 ** zoom)) as [number, number]
    for (const [dx, dy] of [
      [0, 0],
      [1, 0],
      [-1, 0],
      [0, 1],
      [0, -1]
    ] as const) {
      const tile = new CanonicalTileID(zoom, x + dx, y + dy)
      expect(await wrongPoints(tile), `${zoom}/${tile.x}/${tile.y}`).toBe(0)
    }
  }
})

test('the square around Amiens is land', async () => {
  const { values } = await world.drawn(new CanonicalTileID(8, 129, 86), 64)
  expect(values.filter((value) => value === land).length).toBeGreaterThan(0.9 * 64 ** 2)
})

test('every tile of the coarser level has a sea, so that a missing one is never taken for sea', async () => {
  for (const tile of tilesOf(levels.region)) {
    expect(Object.keys((await world.layers(tile)) ?? {}), `${tile.x}/${tile.y}`).toContain('sea')
  }
})

test('a feature whose exterior vanished swaps land and sea, and the comparison sees it', async () => {
  const spain = (await world.layers(new CanonicalTileID(5, 15, 12)))!.land!.shapes
  const shapes = Array.from({ length: spain.length }, (_, index) => spain.feature(index))
  const [lands, lakes] = [false, true].map((isLake) =>
    shapes.filter(({ properties }) => 'water' in properties === isLake).flatMap((shape) => shape.loadGeometry())
  ) as [Point[][], Point[][]]
  const merged: Shape = {
    ...shapes[0]!,
    type: 3,
    extent: 8192,
    properties: {},
    loadGeometry: () => [...lakes.map((ring) => ring.toReversed()), ...lands]
  }
  const [right, swapped] = [new Points(128), new Points(128)]
  right.draw(spain, ({ properties }) => (properties.water ? sea : land))
  swapped.draw({ length: 1, extent: 8192, feature: () => merged }, () => land)
  const differing = right.values.filter((value, index) => (value === land) !== (swapped.values[index] === land)).length
  expect(differing).toBeGreaterThan(1_000)
})
