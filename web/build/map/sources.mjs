// Reads what the bundled map is made of: land of OpenStreetMap, towns of GeoNames, everything else of Natural Earth.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { gunzipSync } from 'node:zlib'

/** Square degrees, of a closed ring of [longitude, latitude]. */
export function area(ring) {
  let sum = 0
  for (let index = 0; index < ring.length - 1; index++) {
    sum += ring[index][0] * ring[index + 1][1] - ring[index + 1][0] * ring[index][1]
  }
  return Math.abs(sum) / 2
}

export const squareKilometres = (ring) => area(ring) * 111.2 ** 2 * Math.cos((ring[0][1] * Math.PI) / 180)

const feature = (geometry, properties = {}) => ({ type: 'Feature', properties, geometry })

/** All land as polygons with lakes as holes. */
export function land(file) {
  const { geometries } = JSON.parse(readFileSync(file, 'utf8'))
  return geometries.flatMap(({ type, coordinates }) => (type === 'Polygon' ? [coordinates] : coordinates))
}

/** Polygons as features, without islands and lakes below some square kilometres. */
export function withoutSmall(polygons, leastIsland, leastLake) {
  return polygons.flatMap(([outer, ...holes]) => {
    if (squareKilometres(outer) < leastIsland) return []
    const lakes = holes.filter((hole) => squareKilometres(hole) >= leastLake)
    return [feature({ type: 'Polygon', coordinates: [outer, ...lakes] })]
  })
}

/** The features of one file of Natural Earth. */
export function naturalEarth(folder, name) {
  return JSON.parse(gunzipSync(readFileSync(`${folder}/${name}.geojson.gz`)).toString()).features
}

/** Parts of towns and places that are no more. */
const noTown = new Set(['PPLX', 'PPLH', 'PPLQ', 'PPLW', 'PPLCH'])

/** Towns by falling population: name, country, capital or not, population, longitude, latitude. */
export function towns(folder) {
  const all = createRequire(import.meta.url)(folder)
  return all
    .filter(({ featureCode }) => !noTown.has(featureCode))
    .map(({ name, country, featureCode, population, loc: { coordinates } }) => ({
      name,
      country,
      population,
      isCapital: featureCode === 'PPLC',
      isSeat: featureCode === 'PPLA',
      longitude: coordinates[0],
      latitude: coordinates[1]
    }))
    .sort((a, b) => b.population - a.population || (a.name < b.name ? -1 : 1))
}

/** The names of a feature of Natural Earth: English, and Spanish where that differs. */
export function namesOf({ name, name_en: english = name, name_es: spanish }) {
  return { name: english, ...(spanish && spanish !== english ? { name_es: spanish } : {}) }
}
