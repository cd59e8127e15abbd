// Distances and lines on a round earth.
export type Point = [longitude: number, latitude: number]

const radius = 6_371_008.8
const radians = Math.PI / 180

/** Metres between two points along the surface. */
export function distanceBetween(a: Point, b: Point): number {
  const dLat = (b[1] - a[1]) * radians
  const dLon = (b[0] - a[0]) * radians
  const h = Math.sin(dLat / 2) ** 2 + Math.cos(a[1] * radians) * Math.cos(b[1] * radians) * Math.sin(dLon / 2) ** 2
  return 2 * radius * Math.asin(Math.min(1, Math.sqrt(h)))
}

/** Metres along a line. */
export function lengthOf(line: Point[]): number {
  let metres = 0
  for (let index = 1; index < line.length; index++) metres += distanceBetween(line[index - 1]!, line[index]!)
  return metres
}

/**
 * The same line with longitudes that never jump: past the antimeridian they go on beyond 180, which the map draws in
 * one piece instead of around the world.
 */
export function continuous(line: Point[]): Point[] {
  let turn = 0
  return line.map(([longitude, latitude], index) => {
    const before = line[index - 1]
    if (before) {
      const step = longitude - before[0]
      if (step > 180) turn -= 360
      else if (step < -180) turn += 360
    }
    return [longitude + turn, latitude]
  })
}
