// Whether positions are on land, by the outlines of the larger lands that every map loads first.

type Ring = GeoJSON.Position[]

/** Whether a position lies within a ring (even-odd rule). */
function holds(ring: Ring, [x, y]: [number, number]): boolean {
  let inside = false
  let before = ring[ring.length - 1]
  for (const point of ring) {
    const [ax = 0, ay = 0] = point
    const [bx = 0, by = 0] = before ?? point
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
    before = point
  }
  return inside
}

/** Whether any of these positions (longitude, latitude) lies on land. */
export function anyOnLand(outlines: GeoJSON.FeatureCollection, positions: [number, number][]): boolean {
  const rings = outlines.features.flatMap(({ geometry, properties }) =>
    geometry.type === 'Polygon' && properties?.kind === 'land' ? geometry.coordinates.slice(0, 1) : []
  )
  return positions.some((position) => rings.some((ring) => holds(ring, position)))
}
