// Land and lakes of the bundled map: each is drawn over what it lies in.
import { expect, test } from 'vitest'
import { stacked } from '../../build/map/stack.mjs'

const square = (west: number, south: number, side: number): [number, number][] => [
  [west, south],
  [west + side, south],
  [west + side, south + side],
  [west, south + side],
  [west, south]
]
const land = (coordinates: [number, number][][], properties: { ice?: 1; water?: 1 } = {}) => ({
  type: 'Feature' as const,
  properties,
  geometry: { type: 'Polygon' as const, coordinates }
})
const water = { water: 1 } as const

test('an island in a lake is drawn over the lake, and the lake over its land', () => {
  const [mainland, lake, island, pond] = [square(0, 0, 10), square(2, 2, 3), square(3, 3, 1), square(3.2, 3.2, 0.1)]
  expect(stacked([land([island, pond]), land([mainland, lake])])).toEqual([
    land([mainland]),
    land([lake], water),
    land([island]),
    land([pond], water)
  ])
})

test('a lake that is listed under another land is drawn all the same', () => {
  const [mainland, lake, island] = [square(0, 0, 10), square(2, 2, 1), square(50, 50, 0.5)]
  expect(stacked([land([island, lake], { ice: 1 }), land([mainland])])).toEqual([
    land([mainland]),
    land([lake], water),
    land([island], { ice: 1 })
  ])
})

test('a lake with depths stays a hole', () => {
  const [mainland, caspian] = [square(0, 0, 50), square(2, 2, 6)]
  expect(stacked([land([mainland, caspian])])).toEqual([land([mainland, caspian])])
})
