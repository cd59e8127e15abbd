import { expect, test } from 'vitest'
import type { Tracked } from '$lib/live/fleet.svelte'
import { sceneOf, spotOf, type DeviceSpot, type View } from '$lib/map/fleet/fleetScene'
import { toLngLat, toUnit } from '$lib/map/geometry/unitSquare'

function device(key: number, longitude: number, latitude: number, severity: 'critical' | null = null): DeviceSpot {
  const tracked = {
    key,
    device: { id: `dev_${key}`, name: `Device ${key}`, state: 'active', status: 'online', tags: {}, groups: [] },
    location: { dateTime: '2026-05-01T00:00:00Z', longitude, latitude }
  } as unknown as Tracked
  return spotOf(tracked, 'online', severity)!
}

const view = (more: Partial<View> = {}): View => ({
  zoom: 5,
  bounds: [0, 0, 1, 1],
  clusters: true,
  picked: undefined,
  spider: null,
  ...more
})
const three = [device(1, -8.7, 42.2), device(2, -8.7, 42.2), device(3, -8.7, 42.2)]

test('the picked device and one that needs help are never in a cluster', () => {
  const fleet = [...three, device(4, -8.7, 42.2, 'critical')]
  const { clusters, singles } = sceneOf(fleet, view({ picked: 'dev_2' }))
  expect(singles.map(({ spot }) => spot.key)).toEqual([2, 4])
  expect(clusters.map(({ members }) => members.map(({ key }) => key))).toEqual([[1, 3]])
})

test('devices that a search did not find stay, in clusters of their own', () => {
  const others = [3, 4].map((key) => ({ ...device(key, -8.7, 42.2), isDim: true }))
  const { clusters, singles } = sceneOf([device(1, -8.7, 42.2), ...others], view())
  expect(singles.map(({ spot }) => spot.key)).toEqual([1])
  expect(clusters.map(({ members }) => members.map(({ key }) => key))).toEqual([[3, 4]])
  const both = sceneOf([...three, ...[5, 6].map((key) => ({ ...device(key, -8.7, 42.2), isDim: true }))], view())
  expect(new Set(both.clusters.map(({ id }) => id)).size).toBe(2)
})

test('one that needs help is never faint', () => {
  const { singles } = sceneOf([{ ...device(1, -8.7, 42.2, 'critical'), isDim: true }], view())
  expect(singles).toHaveLength(1)
})

test('a cluster does not hide below the picked device', () => {
  const { clusters, singles } = sceneOf(three, view({ picked: 'dev_2' }))
  expect(clusters[0]!.x - singles[0]!.x).toBeGreaterThan(30 / (512 * 2 ** 5))
})

test('without clusters every device is drawn', () => {
  const { clusters, singles } = sceneOf(three, view({ clusters: false }))
  expect([clusters.length, singles.length]).toEqual([0, 3])
})

test('devices of one spot are drawn apart, each with a leg', () => {
  const { x, y } = three[0]!
  const { clusters, singles, legs } = sceneOf(three, view({ spider: { keys: new Set([1, 2, 3]), x, y } }))
  expect([clusters.length, singles.length, legs.length]).toEqual([0, 3, 3])
  expect(new Set(singles.map((placed) => `${placed.x} ${placed.y}`)).size).toBe(3)
})

test('more than can be drawn apart stay in a cluster', () => {
  const many = Array.from({ length: 70 }, (_, key) => device(key, 10, 10))
  const { x, y } = many[0]!
  const scene = sceneOf(many, view({ spider: { keys: new Set(many.map(({ key }) => key)), x, y } }))
  expect(scene.singles).toHaveLength(60)
  expect(scene.clusters[0]?.members).toHaveLength(10)
})

test('what is out of view is left out, also when the view crosses the antimeridian', () => {
  const fiji = [device(1, 179.9, -17), device(2, -179.9, -16), device(3, 0, 0)]
  const { singles } = sceneOf(fiji, view({ zoom: 8, bounds: [0.98, 0.4, 1.02, 0.6] }))
  expect(singles.map(({ spot }) => spot.key).sort()).toEqual([1, 2])
})

test.each([
  [-8.7, 42.2],
  [180, -85],
  [0, 0],
  [-179.9, 70]
])('%d, %d comes back from the unit square', (longitude, latitude) => {
  const { x, y } = toUnit(longitude, latitude)
  const [east, north] = toLngLat(x, y)
  expect((((east - longitude) % 360) + 360) % 360).toBeCloseTo(0)
  expect(north).toBeCloseTo(latitude)
})
