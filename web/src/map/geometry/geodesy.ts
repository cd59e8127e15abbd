// Distances and lines on a round earth.
import { mercatorEdge } from './unitSquare'

export type Point = [longitude: number, latitude: number]

export const earthRadius = 6_371_008.8
const radians = Math.PI / 180

/** Metres between two points along the surface. */
export function distanceBetween(a: Point, b: Point): number {
  const [north, east] = [((b[1] - a[1]) * radians) / 2, ((b[0] - a[0]) * radians) / 2]
  const h = Math.sin(north) ** 2 + Math.cos(a[1] * radians) * Math.cos(b[1] * radians) * Math.sin(east) ** 2
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(h)))
}

/** The initial course of the shortest way from one point to another, in degrees from north. */
export function bearingTo(from: Point, to: Point): number {
  const [begin, end] = [from[1] * radians, to[1] * radians]
  const turn = (to[0] - from[0]) * radians
  const east = Math.sin(turn) * Math.cos(end)
  const north = Math.cos(begin) * Math.sin(end) - Math.sin(begin) * Math.cos(end) * Math.cos(turn)
  return (Math.atan2(east, north) / radians + 360) % 360
}

/** Metres along a line. */
export function lengthOf(line: Point[]): number {
  return line.reduce((sum, here, index) => sum + distanceBetween(line[index - 1] ?? here, here), 0)
}

/** The same longitude from -180 to 180; 180 stays what it is. */
export const wrap = (longitude: number): number => {
  const turned = ((((longitude + 180) % 360) + 360) % 360) - 180
  return turned === -180 && longitude > 0 ? 180 : turned
}

/**
 * The same points with longitudes that never jump: each is the shorter way from the previous one. Past the antimeridian
 * they continue beyond 180, so that the map draws one piece instead of a line around the world.
 */
export function unwrap(points: Point[]): Point[] {
  let last: number | undefined
  return points.map(([longitude, latitude]) => {
    last = last === undefined ? longitude : last + wrap(longitude - last)
    return [last, latitude]
  })
}

/** Whether a position is beyond the map's tiles, which end at 85 degrees: a line there would be drawn along their edge. */
export const isBeyondTiles = (latitude: number): boolean => Math.abs(latitude) > mercatorEdge

/** The pieces of a line that lie within the map's tiles. */
export function drawable(line: Point[]): Point[][] {
  const pieces: Point[][] = [[]]
  for (const point of line) {
    if (isBeyondTiles(point[1])) pieces.push([])
    else pieces.at(-1)?.push(point)
  }
  return pieces.filter((piece) => piece.length > 1)
}
