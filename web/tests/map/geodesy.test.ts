import { expect, test } from 'vitest'
import { drawable, unwrap, distanceBetween, lengthOf } from '$lib/map/geometry/geodesy'

test('distances are those of the globe', () => {
  expect(distanceBetween([0, 0], [0, 90])).toBeCloseTo(10_007_557, -1)
  expect(distanceBetween([-8.7207, 42.2406], [-3.7038, 40.4168])).toBeGreaterThan(460_000)
  expect(distanceBetween([179.9, 0], [-179.9, 0])).toBeCloseTo(22_239, -1)
  expect(lengthOf([[0, 0]])).toBe(0)
})

test('a line past the antimeridian goes on', () => {
  expect(
    unwrap([
      [179, 1],
      [-179, 2],
      [-178, 3],
      [179.5, 4]
    ])
  ).toEqual([
    [179, 1],
    [181, 2],
    [182, 3],
    [179.5, 4]
  ])
  expect(
    unwrap([
      [-179, 0],
      [179, 0]
    ])
  ).toEqual([
    [-179, 0],
    [-181, 0]
  ])
})

test('a line is left out where the map has no tiles', () => {
  const [south, edge, pole, back, end]: [number, number][] = [
    [0, 84],
    [10, 85],
    [20, 89],
    [30, 85],
    [40, 84]
  ]
  expect(drawable([south!, edge!, pole!, back!, end!])).toEqual([
    [south, edge],
    [back, end]
  ])
  expect(drawable([edge!, pole!])).toEqual([])
})
