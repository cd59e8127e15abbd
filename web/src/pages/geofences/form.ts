// Reads and writes shapes as lines of positions, and reads GeoJSON files.
import { shapeOf, type Geometry, type Position, type Shape } from '$lib/map/draw/drawShape'

/** The positions of a text, one per line, latitude first; or the number of the first invalid line. */
export function readPositions(text: string): Position[] | { badLine: number } {
  const positions: Position[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (!line.trim()) continue
    const position = readPosition(line)
    if (!position) return { badLine: index + 1 }
    positions.push(position)
  }
  return positions
}

/** A latitude and a longitude with any separator. */
export function readPosition(line: string): Position | null {
  const numbers = line
    .trim()
    .split(/[\s,;]+/)
    .filter(Boolean)
  if (numbers.length !== 2) return null
  const [latitude, longitude] = numbers.map(Number)
  return latitude !== undefined && longitude !== undefined && isPosition(latitude, longitude)
    ? [longitude, latitude]
    : null
}

export const isPosition = (latitude: number, longitude: number): boolean =>
  Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180

const short = (value: number): string => String(Number(value.toFixed(6)))

export const writePositions = (positions: Position[]): string =>
  positions.map(([longitude, latitude]) => `${short(latitude)}, ${short(longitude)}`).join('\n')

/** A feature of a file that can become a geofence. */
export interface Found {
  name: string
  description: string | null
  shape: Shape
  /** Whether the file gives the radius or width; otherwise a default is used. */
  sized: boolean
}

interface Defaults {
  name: (number: number) => string
  radius: number
  width: number
}

type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const text = (value: unknown): string | null => (typeof value === 'string' && value.trim() ? value.trim() : null)
const size = (value: unknown): number | null => (typeof value === 'number' && value > 0 ? value : null)

/** All features of a GeoJSON text that can be geofences; null if it is not GeoJSON. */
export function readGeoJson(content: string, defaults: Defaults): Found[] | null {
  let value: unknown
  try {
    value = JSON.parse(content)
  } catch {
    return null
  }
  const features = featuresOf(value)
  if (!features) return null
  const found: Found[] = []
  for (const { geometry, properties } of features) {
    for (const part of partsOf(geometry)) {
      const shape = shapeFrom(part, properties, defaults)
      if (!shape) continue
      const name = text(properties.name) ?? text(properties.title) ?? defaults.name(found.length + 1)
      found.push({ name: name.slice(0, 200), description: text(properties.description), ...shape })
    }
  }
  return found
}

function featuresOf(value: unknown): { geometry: Json; properties: Json }[] | null {
  if (!isObject(value)) return null
  if (value.type === 'FeatureCollection') {
    return Array.isArray(value.features) ? value.features.flatMap((feature) => featuresOf(feature) ?? []) : null
  }
  if (value.type === 'Feature') {
    const properties = isObject(value.properties) ? value.properties : {}
    return isObject(value.geometry) ? [{ geometry: value.geometry, properties }] : []
  }
  const isGeometry = Array.isArray(value.coordinates) || value.type === 'GeometryCollection'
  return isGeometry ? [{ geometry: value, properties: {} }] : null
}

/** The parts of a geometry that the API accepts separately. */
function partsOf(geometry: Json): Geometry[] {
  const { type, coordinates } = geometry
  if (type === 'GeometryCollection' && Array.isArray(geometry.geometries)) {
    return geometry.geometries.filter(isObject).flatMap(partsOf)
  }
  if (!Array.isArray(coordinates)) return []
  const parts = coordinates as unknown[][]
  if (type === 'MultiPoint') return parts.map((part) => ({ type: 'Point', coordinates: part }))
  if (type === 'MultiLineString') return parts.map((part) => ({ type: 'LineString', coordinates: part }))
  return [{ type: String(type), coordinates }]
}

function shapeFrom(geometry: Geometry, properties: Json, defaults: Defaults): Pick<Found, 'shape' | 'sized'> | null {
  const [radius, width] = [size(properties.radius), size(properties.width)]
  try {
    const shape = shapeOf(geometry, { radius: radius ?? defaults.radius, width: width ?? defaults.width })
    if (!shape) return null
    const sized = shape.kind === 'circle' ? radius !== null : shape.kind === 'corridor' ? width !== null : true
    return { shape, sized }
  } catch {
    // Coordinates whose nesting does not match their type.
    return null
  }
}
