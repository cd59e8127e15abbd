import { describe, expect, test } from 'vitest'
import { cluster, spreadOf, worldSize, type Spot } from '$lib/map/fleet/clusters'
import { spiderOffsets } from '$lib/map/fleet/spider'
import { Movement } from '$lib/map/fleet/movement'

const spot = (key: number, x: number, y = 0.4): Spot => ({ key, x, y })
const keys = (found: { members: Spot[] }[]) => found.map(({ members }) => members.map(({ key }) => key).sort()).sort()

describe('clusters', () => {
  test('what overlaps is one cluster, what is far apart is not', () => {
    const found = cluster([spot(1, 0.5), spot(2, 0.5001), spot(3, 0.7)], 4, 44)
    expect(keys(found)).toEqual([[1, 2], [3]])
  })

  test('neighbours on two sides of a line of the grid are joined', () => {
    const columns = Math.floor((worldSize * 2 ** 4) / 44)
    const line = 60 / columns
    const found = cluster([spot(1, line - 0.0001), spot(2, line + 0.0001)], 4, 44)
    expect(keys(found)).toEqual([[1, 2]])
  })

  test('a cluster at the antimeridian stays there', () => {
    const [found, ...others] = cluster([spot(1, 0.9999), spot(2, 0.0001)], 3, 44)
    expect(others).toEqual([])
    expect(Math.min(found!.x, 1 - found!.x)).toBeLessThan(0.001)
    expect(spreadOf(found!.members, 0)).toBeCloseTo(0.0002 * worldSize)
  })

  test('every device is in exactly one cluster', () => {
    const spots = Array.from({ length: 2000 }, (_, key) => spot(key, (key * 0.618) % 1, 0.2 + ((key * 0.377) % 0.6)))
    const members = cluster(spots, 3.5, 44).flatMap((found) => found.members)
    expect(new Set(members.map(({ key }) => key)).size).toBe(2000)
    expect(members.length).toBe(2000)
  })

  test('two zooms later a cluster of two comes apart', () => {
    const pair = [spot(1, 0.5), spot(2, 0.5 + 40 / (worldSize * 2 ** 6))]
    expect(cluster(pair, 6, 44)).toHaveLength(1)
    expect(cluster(pair, 8, 44)).toHaveLength(2)
  })
})

test.each([2, 5, 9, 10, 30, 60])('%d devices of one spot stand apart', (count) => {
  const offsets = spiderOffsets(count)
  expect(offsets).toHaveLength(count)
  for (const [index, [x, y]] of offsets.entries()) {
    for (const [otherX, otherY] of offsets.slice(index + 1))
      expect(Math.hypot(x - otherX, y - otherY)).toBeGreaterThan(29)
  }
})

describe('movement', () => {
  test('goes from the old to the new place and ends', () => {
    const movement = new Movement()
    movement.begin(1, { x: 0.1, y: 0.5 }, { x: 0.2, y: 0.5 }, 0)
    expect(movement.at(1, 0)?.x).toBeCloseTo(0.1)
    expect(movement.at(1, 450)?.x).toBeCloseTo(0.15)
    expect(movement.isMoving(450)).toBe(true)
    expect(movement.isMoving(901)).toBe(false)
    expect(movement.at(1, 901)).toBeUndefined()
  })

  test('takes the shorter way over the antimeridian', () => {
    const movement = new Movement()
    movement.begin(1, { x: 0.99, y: 0.5 }, { x: 0.01, y: 0.5 }, 0)
    const { x } = movement.at(1, 450)!
    expect(Math.min(x, 1 - x)).toBeLessThan(0.011)
  })

  test('a new report during a move goes on from where the device is drawn', () => {
    const movement = new Movement()
    movement.begin(1, { x: 0.1, y: 0.5 }, { x: 0.2, y: 0.5 }, 0)
    movement.begin(1, { x: 0.2, y: 0.5 }, { x: 0.3, y: 0.5 }, 450)
    expect(movement.at(1, 450)?.x).toBeCloseTo(0.15)
  })
})
