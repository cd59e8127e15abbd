// Cuts layers of GeoJSON into vector tiles of one zoom level.
import { GeoJSONVT } from '@maplibre/geojson-vt'
import { fromGeojsonVt } from '@maplibre/vt-pbf'

export const extent = 8192
const buffer = 128

/** An index of one layer. `tolerance` is in units of the extent. */
function indexed(features, zoom, tolerance) {
  return new GeoJSONVT(
    { type: 'FeatureCollection', features },
    // On its last level the index keeps every point, so it is given one level more.
    { maxZoom: zoom + 1, indexMaxZoom: zoom, indexMaxPoints: 0, tolerance, extent, buffer }
  )
}

/** Edges on the antimeridian are moved out of sight: the outline of a land that crosses it must not be drawn there. */
function hideSeam(geometry, x, columns) {
  if (x > 0 && x < columns - 1) return geometry
  const [seam, hidden] = x === 0 ? [0, -buffer] : [extent, extent + buffer]
  return geometry.map((ring) => {
    const points = ring.slice(0, -1)
    const isOn = (at) => points.at(at % points.length)[0] === seam
    const moved = points.flatMap((point, at) => {
      if (!isOn(at)) return [point]
      const [aside, before, after] = [[hidden, point[1]], isOn(at - 1), isOn(at + 1)]
      // Edges that end at the antimeridian stay where they are.
      return [...(before ? [] : [point]), ...(before || after ? [aside] : []), ...(before && !after ? [point] : [])]
    })
    return [...moved, moved[0]]
  })
}

/**
 * All lines of equal properties in one feature, which takes less room. Polygons stay apart: the renderer takes the first
 * ring of a feature for an exterior and all rings of the other direction for holes. When it enlarges a tile, a ring can
 * shrink to nothing or turn around; in a feature of many polygons that would swap land and sea in the whole tile.
 */
function merged(features) {
  const byKind = new Map()
  const result = []
  for (const feature of features) {
    if (feature.type !== 2) {
      result.push(feature)
      continue
    }
    const key = `${feature.type} ${JSON.stringify(feature.tags)}`
    const known = byKind.get(key)
    if (known) known.geometry.push(...feature.geometry)
    else {
      const first = { ...feature, geometry: [...feature.geometry] }
      byKind.set(key, first)
      result.push(first)
    }
  }
  return result
}

const sea = {
  features: [
    {
      type: 3,
      tags: {},
      geometry: [
        [
          [-buffer, -buffer],
          [extent + buffer, -buffer],
          [extent + buffer, extent + buffer],
          [-buffer, extent + buffer],
          [-buffer, -buffer]
        ]
      ]
    }
  ]
}

/**
 * Tiles of one zoom level: a map from `x/y` to bytes. `layers` names features and the tolerance of each. A tile with
 * land also has a `sea` that covers it whole, so that it hides the coarser map below. A whole level has a tile
 * everywhere, also where there is only sea, so that the map can show what is not loaded in another colour. Otherwise a
 * tile without shapes is left out. `repair` mends land, and cuts ice and built-up areas at its coast.
 */
export function cut(layers, zoom, { isWhole, repair }) {
  const indexes = Object.entries(layers).map(([name, { features, tolerance }]) => [
    name,
    indexed(features, zoom, tolerance)
  ])
  const columns = 2 ** zoom
  const tiles = new Map()
  for (let x = 0; x < columns; x++) {
    for (let y = 0; y < columns; y++) {
      const present = {}
      for (const [name, index] of indexes) {
        const features = index.getTile(zoom, x, y)?.features ?? []
        if (features.length === 0) continue
        present[name] = {
          features: merged(features).map((feature) =>
            feature.type === 3 ? { ...feature, geometry: hideSeam(feature.geometry, x, columns) } : feature
          )
        }
      }
      if (present.land) present.land.features = present.land.features.flatMap((feature) => repair.solid(feature))
      for (const layer of [present.ice, present.urban]) {
        if (layer) layer.features = repair.onLand(layer.features, present.land?.features ?? [])
      }
      const filled = Object.fromEntries(Object.entries(present).filter(([, { features }]) => features.length > 0))
      if (!isWhole && Object.keys(filled).length === 0) continue
      if (isWhole || filled.land) filled.sea = sea
      tiles.set(`${x}/${y}`, fromGeojsonVt(filled, { version: 2, extent }))
    }
  }
  return tiles
}
