// Land and lakes as polygons without holes, each drawn over the one around it. The renderer fills such polygons right at
// every zoom. With lakes as holes it would not: it takes the first ring of a feature for the exterior, even if the
// exterior vanished when it enlarged the tile, and some lakes are left out of its triangles.
import { area, squareKilometres } from './sources.mjs'

/** Lakes of more square kilometres stay holes, because depths are drawn below the land: the Caspian Sea. */
const largestDrawn = 200_000

/** The shapes of some land, larger ones first. Lakes have the property `water`. */
export function stacked(features) {
  return features
    .flatMap(({ properties, geometry: { coordinates } }) => {
      const [outer, ...lakes] = coordinates
      const isHole = (lake) => squareKilometres(lake) > largestDrawn
      return [
        polygon(properties, [outer, ...lakes.filter(isHole)]),
        ...lakes.filter((lake) => !isHole(lake)).map((lake) => polygon({ water: 1 }, [lake]))
      ]
    })
    .map((feature) => ({ feature, size: area(feature.geometry.coordinates[0]) }))
    .sort((a, b) => b.size - a.size)
    .map(({ feature }) => feature)
}

const polygon = (properties, coordinates) => ({
  type: 'Feature',
  properties,
  geometry: { type: 'Polygon', coordinates }
})
