// The fleet on the map at a zoom level: clusters, single devices, and the devices of one spot drawn apart.
import type { Status, Tracked } from '$lib/live/fleet.svelte'
import type { Severity } from '$lib/live/severities'
import { cluster, worldSize, type Cluster, type Spot } from './clusters'
import { mostLegs, spiderOffsets } from './spider'
import { toUnit } from '$lib/map/geometry/unitSquare'

/** A device on the map. */
export interface DeviceSpot extends Spot {
  tracked: Tracked
  status: Status
  severity: Severity | null
  /** Whether it is drawn faintly, because it does not match the search. */
  isDim: boolean
}

export interface Placed {
  spot: DeviceSpot
  x: number
  y: number
}

export interface Scene {
  clusters: Cluster<DeviceSpot>[]
  singles: Placed[]
  /** Lines from a spot to its devices that are drawn apart. */
  legs: [from: { x: number; y: number }, to: { x: number; y: number }][]
}

/** The devices of one spot that are drawn apart. */
export interface Spider {
  keys: Set<number>
  x: number
  y: number
}

export interface View {
  zoom: number
  /** West, north, east and south in the unit square; west may be below 0 and east above 1. */
  bounds: [number, number, number, number]
  clusters: boolean
  picked: string | undefined
  spider: Spider | null
}

/**
 * Devices within `wide` pixels are put into one cluster. From zoom `tightFrom` on, only those within `tight` pixels,
 * which would cover each other.
 */
const wide = 44
const tight = 16
const tightFrom = 13
/** Pixels between a device on top and a cluster that is moved beside it. */
const aside = 38

export function spotOf(tracked: Tracked, status: Status, severity: Severity | null, isDim = false): DeviceSpot | null {
  const { location } = tracked
  if (!location) return null
  const { x, y } = toUnit(location.longitude, location.latitude)
  return { key: tracked.key, x, y, tracked, status, severity, isDim }
}

/** Whether a device is beyond the edge of the Mercator projection. */
export const isPolar = ({ y }: Spot): boolean => y < 0 || y > 1

/** Whether a device is always drawn by itself and above clusters: it is picked, or somebody needs help. */
export const isOnTop = ({ tracked, severity }: DeviceSpot, picked: string | undefined): boolean =>
  tracked.device.id === picked || severity === 'critical'

/** The zoom rounded down to half levels, so that clusters do not change with every small step. */
export const levelOf = (zoom: number): number => Math.floor(zoom * 2) / 2

export function sceneOf(spots: Iterable<DeviceSpot>, view: View): Scene {
  const scene: Scene = { clusters: [], singles: [], legs: [] }
  const grouped: DeviceSpot[] = []
  const dim: DeviceSpot[] = []
  const apart: DeviceSpot[] = []
  for (const spot of spots) {
    if (!isWithin(spot, view.bounds)) continue
    if (view.spider?.keys.has(spot.key)) apart.push(spot)
    else if (!view.clusters || isOnTop(spot, view.picked)) scene.singles.push({ spot, x: spot.x, y: spot.y })
    else (spot.isDim ? dim : grouped).push(spot)
  }
  // Dimmed devices have clusters of their own: a common one would hide a device that matches the search.
  addClusters(scene, dim, view.zoom, 'dim ')
  addClusters(scene, grouped, view.zoom)
  avoidOverlap(scene, view)
  if (view.spider) drawApart(scene, apart, view.spider, view.zoom)
  return scene
}

function addClusters(scene: Scene, spots: DeviceSpot[], zoom: number, prefix = ''): void {
  const level = levelOf(zoom)
  for (const found of cluster(spots, level, level >= tightFrom ? tight : wide)) {
    const [only] = found.members
    if (found.members.length === 1 && only) scene.singles.push({ spot: only, x: only.x, y: only.y })
    else scene.clusters.push({ ...found, id: prefix + found.id })
  }
}

/** A cluster that a device on top would cover is drawn beside it. */
function avoidOverlap(scene: Scene, { zoom, picked }: View): void {
  const pixel = 1 / (worldSize * 2 ** zoom)
  const onTop = scene.singles.filter(({ spot }) => isOnTop(spot, picked))
  if (onTop.length === 0) return
  scene.clusters = scene.clusters.map((found) => {
    const covers = onTop.find(({ x, y }) => Math.hypot(found.x - x, found.y - y) < aside * pixel)
    return covers ? { ...found, x: covers.x + aside * pixel, y: covers.y } : found
  })
}

function drawApart(scene: Scene, spots: DeviceSpot[], { x, y }: Spider, zoom: number): void {
  const pixel = 1 / (worldSize * 2 ** zoom)
  const offsets = spiderOffsets(Math.min(spots.length, mostLegs))
  offsets.forEach(([right, down], index) => {
    const to = { x: x + right * pixel, y: y + down * pixel }
    scene.singles.push({ spot: spots[index]!, ...to })
    scene.legs.push([{ x, y }, to])
  })
  const rest = spots.slice(mostLegs)
  if (rest.length > 0) scene.clusters.push({ id: 'rest', members: rest, x, y })
}

function isWithin({ x, y }: Spot, [west, north, east, south]: View['bounds']): boolean {
  // On a flat map, devices beyond its edge are drawn at the edge.
  const row = Math.max(0, Math.min(1, y))
  if (row < north || row > south) return false
  return (x >= west && x <= east) || (x + 1 >= west && x + 1 <= east) || (x - 1 >= west && x - 1 <= east)
}
