// The shapes of geofences, converted between the API, the drawing tool and the map.
// Edges of areas are straight in longitude and latitude and go the shorter way round; circles and corridors are
// measured on the sphere. The map requires longitudes that continue past 180 degrees.
import { earthRadius, unwrap, wrap, type Point } from '$lib/map/geometry/geodesy'

export type Position = Point

export type Shape =
  | { kind: 'polygon'; positions: Position[] }
  | { kind: 'circle'; center: Position; radius: number }
  | { kind: 'corridor'; positions: Position[]; width: number }
  /** Several areas, or one with holes: shown and kept, but not drawn by hand. */
  | { kind: 'area'; polygons: Position[][][] }

export type Kind = Shape['kind']
export const drawn = ['polygon', 'circle', 'corridor'] as const
export type DrawnKind = (typeof drawn)[number]

export interface Geometry {
  type: string
  coordinates: unknown[]
}

const radians = Math.PI / 180
/** Maximum step between two shown positions of an edge. */
const stepDegrees = 2
/** Latitude at which the map's projection ends. */
const edgeDegrees = 85

/** The position at a distance in metres and a bearing in degrees from another. */
export function destination([longitude, latitude]: Position, metres: number, bearing: number): Position {
  const angle = metres / earthRadius
  const [phi, theta] = [latitude * radians, bearing * radians]
  const sine = Math.sin(phi) * Math.cos(angle) + Math.cos(phi) * Math.sin(angle) * Math.cos(theta)
  const north = Math.asin(Math.max(-1, Math.min(1, sine)))
  const east = Math.atan2(Math.sin(theta) * Math.sin(angle) * Math.cos(phi), Math.cos(angle) - Math.sin(phi) * sine)
  return [longitude + east / radians, north / radians]
}

/** The closed ring of a circle. */
export function circleRing(center: Position, radius: number, corners = 96): Position[] {
  const ring = Array.from({ length: corners }, (_, index) => destination(center, radius, (index * 360) / corners))
  return [...ring, ring[0] ?? center]
}

/** The middle of positions on the sphere; exact for the corners of a circle. */
export function middle(positions: Position[]): Position {
  let [x, y, z] = [0, 0, 0]
  for (const [longitude, latitude] of positions) {
    x += Math.cos(latitude * radians) * Math.cos(longitude * radians)
    y += Math.cos(latitude * radians) * Math.sin(longitude * radians)
    z += Math.sin(latitude * radians)
  }
  return [Math.atan2(y, x) / radians, Math.atan2(z, Math.hypot(x, y)) / radians]
}

const isClosed = (ring: Position[]): boolean => {
  const [first, last] = [ring[0], ring.at(-1)]
  return ring.length > 1 && first?.[0] === last?.[0] && first?.[1] === last?.[1]
}
export const open = (ring: Position[]): Position[] => (isClosed(ring) ? ring.slice(0, -1) : ring)
const close = (ring: Position[]): Position[] => [...ring, ...ring.slice(0, 1)]
const flat = (position: Position): Position => [position[0], position[1]]

/** A geofence of the API as a shape; null if its type is unknown. */
export function shapeOf(geometry: Geometry, size: { radius?: number | null; width?: number | null }): Shape | null {
  const coordinates = geometry.coordinates as unknown
  switch (geometry.type) {
    case 'Point':
      return { kind: 'circle', center: flat(coordinates as Position), radius: size.radius ?? 0 }
    case 'LineString':
      return { kind: 'corridor', positions: (coordinates as Position[]).map(flat), width: size.width ?? 0 }
    case 'Polygon': {
      const rings = coordinates as Position[][]
      const [outer] = rings
      if (rings.length === 1 && outer) return { kind: 'polygon', positions: open(outer.map(flat)) }
      return { kind: 'area', polygons: [rings.map((ring) => ring.map(flat))] }
    }
    case 'MultiPolygon':
      return {
        kind: 'area',
        polygons: (coordinates as Position[][][]).map((rings) => rings.map((ring) => ring.map(flat)))
      }
    default:
      return null
  }
}

/** Seven decimals of a degree are about a centimetre; more would be noise of the pointer. */
const precise = ([longitude, latitude]: Position): Position => [
  Math.round(wrap(longitude) * 1e7) / 1e7,
  Math.round(latitude * 1e7) / 1e7
]

/** A shape as the API accepts it. */
export function geometryOf(shape: Shape): { geometry: Geometry; radius: number | null; width: number | null } {
  switch (shape.kind) {
    case 'circle':
      return { geometry: { type: 'Point', coordinates: precise(shape.center) }, radius: shape.radius, width: null }
    case 'corridor':
      return {
        geometry: { type: 'LineString', coordinates: shape.positions.map(precise) },
        radius: null,
        width: shape.width
      }
    case 'polygon':
      return {
        geometry: { type: 'Polygon', coordinates: [close(shape.positions.map(precise))] },
        radius: null,
        width: null
      }
    case 'area': {
      const [only] = shape.polygons
      const geometry =
        shape.polygons.length === 1 && only
          ? { type: 'Polygon', coordinates: only }
          : { type: 'MultiPolygon', coordinates: shape.polygons }
      return { geometry, radius: null, width: null }
    }
  }
}

/** Adds positions along a line, so that long edges stay straight in longitude and latitude on the map. */
function dense(positions: Position[]): Position[] {
  const all: Position[] = []
  positions.forEach((position, index) => {
    const before = positions[index - 1]
    if (before) {
      const parts = Math.ceil(
        Math.max(Math.abs(position[0] - before[0]), Math.abs(position[1] - before[1])) / stepDegrees
      )
      for (let part = 1; part < parts; part++) {
        const share = part / parts
        all.push([before[0] + (position[0] - before[0]) * share, before[1] + (position[1] - before[1]) * share])
      }
    }
    all.push(position)
  })
  return all
}

/** A ring as the map shows it; one that goes round the earth is closed along the edge of the map at its pole. */
function shownRing(ring: Position[]): Position[] {
  const whole = unwrap(close(open(ring)))
  const [first, last] = [whole[0], whole.at(-1)]
  const shown = dense(whole)
  if (!first || !last || Math.abs(last[0] - first[0]) < 180) return shown
  const pole = ring.reduce((sum, [, latitude]) => sum + latitude, 0) < 0 ? -edgeDegrees : edgeDegrees
  return [...shown, [last[0], pole], [first[0], pole], first]
}

/** A shape as the map shows it: its area, or the middle line of a corridor. */
export function shown(shape: Shape): GeoJSON.Geometry {
  switch (shape.kind) {
    case 'polygon':
      return { type: 'Polygon', coordinates: [shownRing(shape.positions)] }
    case 'circle':
      return { type: 'Polygon', coordinates: [shownRing(circleRing(shape.center, shape.radius))] }
    case 'corridor':
      return { type: 'LineString', coordinates: dense(unwrap(shape.positions)) }
    case 'area':
      return { type: 'MultiPolygon', coordinates: shape.polygons.map((rings) => rings.map(shownRing)) }
  }
}

/** All positions of a shape in one list. */
export function positionsOf(shape: Shape): Position[] {
  const geometry = shown(shape)
  if (geometry.type === 'Polygon') return geometry.coordinates.flat() as Position[]
  if (geometry.type === 'LineString') return geometry.coordinates as Position[]
  if (geometry.type === 'MultiPolygon') return geometry.coordinates.flat(2) as Position[]
  return []
}

/** West, south, east and north of a shape; east may be past 180. */
export function boundsOf(shape: Shape): [number, number, number, number] {
  const all = positionsOf(shape)
  const east = all.map(([longitude]) => longitude)
  const north = all.map(([, latitude]) => latitude)
  return [Math.min(...east), Math.min(...north), Math.max(...east), Math.max(...north)]
}

/** Position of the label of a shape: the centre of its area, or the middle of a corridor. */
export function labelAt(shape: Shape): Position {
  if (shape.kind === 'circle') return shape.center
  if (shape.kind === 'corridor') {
    const line = unwrap(shape.positions)
    return line[Math.floor(line.length / 2)] ?? [0, 0]
  }
  const ring = unwrap(open(shape.kind === 'polygon' ? shape.positions : (shape.polygons[0]?.[0] ?? [])))
  return centroid(ring)
}

function centroid(ring: Position[]): Position {
  let [area, east, north] = [0, 0, 0]
  const [origin] = ring
  if (!origin) return [0, 0]
  ring.forEach((here, index) => {
    const next = ring[(index + 1) % ring.length] ?? here
    const [ax, ay, bx, by] = [here[0] - origin[0], here[1] - origin[1], next[0] - origin[0], next[1] - origin[1]]
    const cross = ax * by - bx * ay
    area += cross
    east += (ax + bx) * cross
    north += (ay + by) * cross
  })
  if (Math.abs(area) < 1e-12) return origin
  return [origin[0] + east / (3 * area), origin[1] + north / (3 * area)]
}
