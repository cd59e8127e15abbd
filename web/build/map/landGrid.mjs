// Land and sea at the points of a grid, straight from the source: what the test of the bundled map compares its tiles
// with. It shares no code with the cutting of tiles.
import { brotliCompressSync, constants } from 'node:zlib'

/** Points on a side of the map: two on each side of a tile of zoom 11, in the middle of its quarters. */
export const gridSize = 4096
/**
 * Points at most so far from a coast are not compared, because the simplified coast may lie on their other side. A share
 * of the map's side: 6 units of the coarser level.
 */
const nearCoast = 6 / (2 ** 5 * 8192)

const across = (longitude) => (longitude + 180) / 360
function down(latitude) {
  const sine = Math.sin((Math.max(-89.9, Math.min(89.9, latitude)) * Math.PI) / 180)
  // The map ends at 85 degrees.
  return Math.max(0, Math.min(1, 0.5 - (0.25 * Math.log((1 + sine) / (1 - sine))) / Math.PI))
}

function* segmentsOf(features) {
  for (const { geometry } of features) {
    for (const ring of geometry.coordinates) {
      let before
      for (const [longitude, latitude] of ring) {
        const point = [across(longitude), down(latitude)]
        if (before) yield [before, point]
        before = point
      }
    }
  }
}

/** The first row (or column) at or after a place. */
const firstAt = (place) => Math.max(0, Math.ceil(place * gridSize - 0.5))
const placeOf = (index) => (index + 0.5) / gridSize

/** 1 where an odd number of rings is around a point. */
function filled(features) {
  const crossings = Array.from({ length: gridSize }, () => [])
  for (const [[ax, ay], [bx, by]] of segmentsOf(features)) {
    const [top, bottom] = ay < by ? [ay, by] : [by, ay]
    for (let row = firstAt(top); row < gridSize && placeOf(row) < bottom; row++) {
      crossings[row].push(ax + ((bx - ax) * (placeOf(row) - ay)) / (by - ay))
    }
  }
  const grid = new Uint8Array(gridSize * gridSize)
  crossings.forEach((places, row) => {
    places.sort((a, b) => a - b)
    for (let at = 0; at + 1 < places.length; at += 2) {
      grid.fill(1, row * gridSize + firstAt(places[at]), row * gridSize + Math.min(gridSize, firstAt(places[at + 1])))
    }
  })
  return grid
}

function distance([x, y], [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay]
  const along = dx || dy ? Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy))) : 0
  return Math.hypot(ax + along * dx - x, ay + along * dy - y)
}

/** Calls back with the index of each point that is close to a coast. */
function eachNearCoast(features, mark) {
  for (const [a, b] of segmentsOf(features)) {
    const right = Math.max(a[0], b[0]) + nearCoast
    const bottom = Math.max(a[1], b[1]) + nearCoast
    for (let row = firstAt(Math.min(a[1], b[1]) - nearCoast); row < gridSize && placeOf(row) <= bottom; row++) {
      for (
        let column = firstAt(Math.min(a[0], b[0]) - nearCoast);
        column < gridSize && placeOf(column) <= right;
        column++
      ) {
        if (distance([placeOf(column), placeOf(row)], a, b) <= nearCoast) mark(row * gridSize + column)
      }
    }
  }
}

/**
 * One byte a point, row by row from the north, compressed: bit 0 is land at the coarser level, bit 1 at the finer one,
 * which has smaller islands and lakes; 4 is a point on a coast, which may be drawn as either.
 */
export function landGrid(region, local) {
  const grid = filled(region)
  filled(local).forEach((land, index) => (grid[index] |= land << 1))
  for (const features of [region, local]) eachNearCoast(features, (index) => (grid[index] = 4))
  return brotliCompressSync(grid, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 }
  })
}
