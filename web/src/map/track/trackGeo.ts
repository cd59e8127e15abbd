// Spherical geometry for tracks. Differences of longitude always take the shorter way.
import { earthRadius } from '$lib/map/geometry/geodesy'

const radians = Math.PI / 180
const nearDegrees = 0.0005

/** The same longitude between -180 and 180. */
export const wrap = (longitude: number): number => ((((longitude + 180) % 360) + 360) % 360) - 180

/** How far east one longitude is of another, the shorter way. */
export const eastward = (from: number, to: number): number => {
  const difference = to - from
  return difference >= -180 && difference <= 180 ? difference : wrap(difference)
}

/** Metres between two positions. */
export function metres(latitude: number, longitude: number, latitude2: number, longitude2: number): number {
  const north = (latitude2 - latitude) * radians
  const east = eastward(longitude, longitude2) * radians
  // For short distances a plane is exact to a millimetre and much faster.
  if (Math.abs(north) < nearDegrees && Math.abs(east) < nearDegrees) {
    const level = east * Math.cos(((latitude + latitude2) / 2) * radians)
    return earthRadius * Math.sqrt(north * north + level * level)
  }
  const half =
    Math.sin(north / 2) ** 2 + Math.cos(latitude * radians) * Math.cos(latitude2 * radians) * Math.sin(east / 2) ** 2
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(half)))
}

/** Bearing of the second position from the first, in degrees clockwise from north. */
export function bearing(latitude: number, longitude: number, latitude2: number, longitude2: number): number {
  const east = eastward(longitude, longitude2) * radians
  const y = Math.sin(east) * Math.cos(latitude2 * radians)
  const x =
    Math.cos(latitude * radians) * Math.sin(latitude2 * radians) -
    Math.sin(latitude * radians) * Math.cos(latitude2 * radians) * Math.cos(east)
  return (Math.atan2(y, x) / radians + 360) % 360
}
