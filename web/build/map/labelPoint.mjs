// Where the name of an area stands: the point inside it that is farthest from its edge, found on a grid.
const steps = 40

function inside(rings, x, y) {
  let result = false
  for (const ring of rings) {
    for (let index = 0, before = ring.length - 1; index < ring.length; before = index++) {
      const [ax, ay] = ring[index]
      const [bx, by] = ring[before]
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) result = !result
    }
  }
  return result
}

function edgeDistance(rings, x, y, squeeze) {
  let least = Infinity
  for (const ring of rings) {
    for (let index = 1; index < ring.length; index++) {
      const [ax, ay] = ring[index - 1]
      const [dx, dy] = [ring[index][0] - ax, ring[index][1] - ay]
      const along = dx || dy ? Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy))) : 0
      least = Math.min(least, ((ax + along * dx - x) * squeeze) ** 2 + (ay + along * dy - y) ** 2)
    }
  }
  return least
}

/** The point for a polygon, or for the largest polygon of several. */
export function labelPoint({ type, coordinates }) {
  const size = ([outer]) =>
    outer.reduce((sum, [x, y], at) => sum + x * (outer[at + 1] ?? outer[0])[1] - (outer[at + 1] ?? outer[0])[0] * y, 0)
  const rings =
    type === 'Polygon' ? coordinates : coordinates.reduce((a, b) => (Math.abs(size(a)) > Math.abs(size(b)) ? a : b))
  const xs = rings[0].map(([x]) => x)
  const ys = rings[0].map(([, y]) => y)
  const [west, south] = [Math.min(...xs), Math.min(...ys)]
  const [width, height] = [Math.max(...xs) - west, Math.max(...ys) - south]
  const squeeze = Math.cos(((south + height / 2) * Math.PI) / 180)
  let best = [west + width / 2, south + height / 2]
  let farthest = -1
  for (let column = 0.5; column < steps; column++) {
    for (let row = 0.5; row < steps; row++) {
      const point = [west + (width * column) / steps, south + (height * row) / steps]
      if (!inside(rings, ...point)) continue
      const distance = edgeDistance(rings, ...point, squeeze)
      if (distance > farthest) [farthest, best] = [distance, point]
    }
  }
  return best.map((value) => Math.round(value * 100) / 100)
}
