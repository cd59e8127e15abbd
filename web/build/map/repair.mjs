// Polygons that the renderer fills as they are meant: simplified coasts may cross themselves, and then its triangles cover
// sea or leave land out. Coordinates are whole units of a tile.
import earcut, { flatten } from 'earcut'

/** Square units that triangles may miss or add: less than a pixel at the zoom of the tile. */
const negligible = 200

/** Twice the area of a closed ring; its sign is the direction. */
function doubleArea(ring) {
  let sum = 0
  for (let index = 1; index < ring.length; index++) {
    sum += ring[index - 1][0] * ring[index][1] - ring[index][0] * ring[index - 1][1]
  }
  return sum
}

/** The difference between the area of the renderer's triangles and that of the polygon. */
function excess(rings) {
  const { vertices, holes, dimensions } = flatten(rings)
  const corners = earcut(vertices, holes, dimensions)
  let filled = 0
  for (let index = 0; index < corners.length; index += 3) {
    const [a, b, c] = [2 * corners[index], 2 * corners[index + 1], 2 * corners[index + 2]]
    const [x, y] = [vertices[a], vertices[a + 1]]
    filled += Math.abs((vertices[b] - x) * (vertices[c + 1] - y) - (vertices[c] - x) * (vertices[b + 1] - y))
  }
  const [outer, ...lakes] = rings.map((ring) => Math.abs(doubleArea(ring)))
  return Math.abs(filled - lakes.reduce((rest, lake) => rest - lake, outer)) / 2
}

/** Whether the first ring is an exterior and the others lie within it. */
const isFilledRight = (rings) => doubleArea(rings[0]) !== 0 && excess(rings) <= negligible

function rounded(ring) {
  const points = ring.map(([x, y]) => [Math.round(x), Math.round(y)])
  return points.filter(([x, y], at) => at === 0 || x !== points[at - 1][0] || y !== points[at - 1][1])
}

/** Polygons of the clipping library as the tiles have them: exteriors in one direction, holes in the other. */
function polygonsOf(clipped) {
  return clipped.flatMap((rings) => {
    const [outer, ...holes] = rings.map(rounded).map((ring) => ({ ring, area: doubleArea(ring) }))
    if (outer.ring.length < 4 || outer.area === 0) return []
    const wound = ({ ring, area }, isOuter) => (area > 0 === isOuter ? ring : ring.toReversed())
    const kept = holes.filter(({ ring, area }) => ring.length > 3 && area !== 0)
    return [[wound(outer, true), ...kept.map((hole) => wound(hole, false))]]
  })
}

/** Mends features of polygons with the functions of a clipping library. */
export class Repair {
  /** How many polygons were mended, and how many the renderer still fills wrongly. */
  mended = 0
  failed = 0
  #clip

  constructor(clip) {
    this.#clip = clip
  }

  /** A polygon as one that the renderer fills right, or as several. */
  solid(feature) {
    if (feature.geometry.every((ring) => doubleArea(ring) === 0)) return []
    if (isFilledRight(feature.geometry)) return [feature]
    this.mended++
    return polygonsOf(this.#clip.union([feature.geometry])).map((geometry) => {
      if (!isFilledRight(geometry)) this.failed++
      return { ...feature, geometry }
    })
  }

  /** The parts of polygons that lie on land. They have equal properties, so that one pass does for all. */
  onLand(features, lands) {
    const shapes = features.map(({ geometry }) => geometry)
    const boxes = shapes.map(boxOf)
    const near = lands.filter(({ geometry }) => boxes.some((box) => meet(box, boxOf(geometry))))
    if (near.length === 0) return []
    // Land within a lake within land: what lies in an odd number of shapes is land.
    const dry = this.#clip.xor(...near.map(({ geometry }) => [geometry]))
    return polygonsOf(this.#clip.intersection(shapes, dry)).map((geometry) => ({ ...features[0], geometry }))
  }
}

function boxOf([outer]) {
  const box = { west: Infinity, east: -Infinity, north: Infinity, south: -Infinity }
  for (const [x, y] of outer) {
    box.west = Math.min(box.west, x)
    box.east = Math.max(box.east, x)
    box.north = Math.min(box.north, y)
    box.south = Math.max(box.south, y)
  }
  return box
}

const meet = (a, b) => a.west <= b.east && b.west <= a.east && a.north <= b.south && b.north <= a.south
