// Converts between degrees and the unit square of the Mercator projection: x grows eastward from 180 degrees west, y
// grows southward.
const radians = Math.PI / 180
/** Latitude at which the square ends, in degrees north and south. */
export const mercatorEdge = 85.051129

/** A point in the unit square; beyond the edge in the far north y is below 0, in the far south above 1. */
export function toUnit(longitude: number, latitude: number): { x: number; y: number } {
  const north = Math.max(-89.99, Math.min(89.99, latitude)) * radians
  const x = longitude / 360 + 0.5
  return { x: x - Math.floor(x), y: 0.5 - Math.log(Math.tan(Math.PI / 4 + north / 2)) / (2 * Math.PI) }
}

export function toLngLat(x: number, y: number): [longitude: number, latitude: number] {
  return [x * 360 - 180, (2 * Math.atan(Math.exp((1 - 2 * y) * Math.PI)) - Math.PI / 2) / radians]
}
