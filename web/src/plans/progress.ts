// How far along its route something is.
import { distanceBetween, unwrap, wrap, type Point } from '$lib/map/geometry/geodesy'

export interface Progress {
  /** Metres along the route to the point that is nearest to the position. */
  done: number
  total: number
  /** Index of the waypoint that comes next. */
  next: number
}

/** Null for a route of fewer than two points. */
export function progressOn(route: Point[], position: Point): Progress | null {
  if (route.length < 2) return null
  const line = unwrap(route)
  let [best, done, next, before] = [Infinity, 0, 1, 0]
  for (let index = 1; index < line.length; index++) {
    const [from, to] = [line[index - 1]!, line[index]!]
    const length = distanceBetween(from, to)
    const share = shareOn(from, to, position)
    const nearest: Point = [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share]
    const away = distanceBetween(nearest, position)
    // Of equals the later one: a route that comes back to where it began is not at its beginning again.
    if (away <= best) {
      best = away
      done = before + length * share
      next = share === 1 ? Math.min(index + 1, line.length - 1) : index
    }
    before += length
  }
  return { done, total: before, next }
}

/** The share of a leg at which a position lies, from 0 to 1, in a plane around the leg. */
function shareOn(from: Point, to: Point, position: Point): number {
  const east = Math.cos(((from[1] + to[1]) / 2) * (Math.PI / 180))
  const [x, y] = [(to[0] - from[0]) * east, to[1] - from[1]]
  const [px, py] = [wrap(position[0] - from[0]) * east, position[1] - from[1]]
  const square = x * x + y * y
  return square === 0 ? 0 : Math.max(0, Math.min(1, (px * x + py * y) / square))
}
