// Rings of positions: rounded, cut at the antimeridian, simplified.

/** Two decimals are a kilometre, which is finer than the source. */
export const round = (value) => Math.round(value * 100) / 100

function sameAsLast(list, point) {
  const last = list[list.length - 1]
  return last !== undefined && last[0] === point[0] && last[1] === point[1]
}

export function tidy(points) {
  const kept = []
  for (const [x, y] of points) {
    const point = [round(x), round(y)]
    if (!sameAsLast(kept, point)) kept.push(point)
  }
  return kept
}

/** The longitudes of a ring made continuous, so that it may leave -180..180 where it crosses the antimeridian. */
function unwrapped(ring) {
  let turn = 0
  return ring.map(([x, y], index) => {
    if (index > 0) {
      const step = x - ring[index - 1][0]
      if (step > 180) turn -= 360
      else if (step < -180) turn += 360
    }
    return [x + turn, y]
  })
}

/** The part of a closed ring on one side of a meridian (Sutherland-Hodgman). */
function half(ring, meridian, keepsEast) {
  const inside = ([x]) => (keepsEast ? x >= meridian : x <= meridian)
  const result = []
  for (let index = 0; index < ring.length - 1; index++) {
    const from = ring[index]
    const to = ring[index + 1]
    const share = (meridian - from[0]) / (to[0] - from[0])
    const crossing = [meridian, from[1] + share * (to[1] - from[1])]
    if (inside(from)) result.push(from)
    if (inside(from) !== inside(to)) result.push(crossing)
  }
  if (result.length > 2) result.push(result[0])
  return result
}

const moved = (ring, by) => ring.map(([x, y]) => [x + by, y])

/** A ring as rings that stay within -180..180: one that crosses is cut there, else the map paints a wedge. */
export function cut(ring) {
  const whole = unwrapped(ring)
  const [first, last] = [whole[0], whole[whole.length - 1]]
  // A ring around a pole does not close: it goes down to the pole and back.
  if (Math.abs(last[0] - first[0]) > 180) {
    const pole = first[1] < 0 ? -90 : 90
    whole.push([last[0], pole], [first[0], pole], first)
  }
  const pieces = []
  for (const turn of [-360, 0, 360]) {
    const shifted = moved(whole, turn)
    const xs = shifted.map(([x]) => x)
    if (Math.max(...xs) <= -180 || Math.min(...xs) >= 180) continue
    let piece = shifted
    if (Math.min(...xs) < -180) piece = half(piece, -180, true)
    if (Math.max(...xs) > 180) piece = half(piece, 180, false)
    if (piece.length > 3) pieces.push(piece)
  }
  return pieces
}

export function area(ring) {
  let sum = 0
  for (let index = 0; index < ring.length - 1; index++) {
    sum += ring[index][0] * ring[index + 1][1] - ring[index + 1][0] * ring[index][1]
  }
  return sum / 2
}

/** The points of a ring that are farther than a tolerance, in degrees, from a line without them (Douglas-Peucker). */
export function simplified(ring, tolerance) {
  const keeps = new Uint8Array(ring.length)
  // A ring ends where it begins: the point farthest from there splits it into two lines.
  const farthest = ring.reduce((best, point, at) => (apart(point, ring[0]) > apart(ring[best], ring[0]) ? at : best), 0)
  keeps[0] = keeps[farthest] = keeps[ring.length - 1] = 1
  const open = [
    [0, farthest],
    [farthest, ring.length - 1]
  ]
  while (open.length > 0) {
    const [from, to] = open.pop()
    let [worst, most] = [-1, tolerance]
    for (let at = from + 1; at < to; at++) {
      const off = offLine(ring[at], ring[from], ring[to])
      if (off > most) [worst, most] = [at, off]
    }
    if (worst < 0) continue
    keeps[worst] = 1
    open.push([from, worst], [worst, to])
  }
  return ring.filter((_, at) => keeps[at])
}

const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1])

function offLine(point, from, to) {
  const length = apart(from, to)
  if (length === 0) return apart(point, from)
  return Math.abs((to[0] - from[0]) * (from[1] - point[1]) - (from[0] - point[0]) * (to[1] - from[1])) / length
}
