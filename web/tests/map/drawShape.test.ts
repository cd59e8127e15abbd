// Shapes of geofences go to the API and back unchanged, and across the antimeridian.
import { expect, test } from 'vitest'
import {
  boundsOf,
  circleRing,
  destination,
  geometryOf,
  labelAt,
  middle,
  shapeOf,
  shown,
  type Position,
  type Shape
} from '$lib/map/draw/drawShape'
import { distanceBetween, unwrap, wrap } from '$lib/map/geometry/geodesy'
import { areaOf, sizeOf } from '$lib/map/draw/drawSize'

const fiji: Position[] = [
  [178, -20],
  [-176, -20],
  [-176, -15],
  [178, -15]
]

test('longitudes are brought back between -180 and 180', () => {
  for (const [from, to] of [
    [0, 0],
    [180, 180],
    [-180, -180],
    [181, -179],
    [-190, 170],
    [540, 180],
    [725, 5]
  ] as const) {
    expect(wrap(from), String(from)).toBeCloseTo(to, 9)
  }
})

test('a line across the antimeridian goes on instead of jumping', () => {
  expect(unwrap(fiji).map(([longitude]) => longitude)).toEqual([178, 184, 184, 178])
  expect(
    unwrap([
      [-179, 0],
      [179, 0]
    ]).map(([longitude]) => longitude)
  ).toEqual([-179, -181])
})

test('what is drawn is what is sent, and back', () => {
  const shapes: Shape[] = [
    { kind: 'polygon', positions: fiji },
    { kind: 'circle', center: [-8.72, 42.24], radius: 500 },
    {
      kind: 'corridor',
      positions: [
        [1, 2],
        [3, 4]
      ],
      width: 200
    }
  ]
  for (const shape of shapes) {
    const { geometry, radius, width } = geometryOf(shape)
    expect(shapeOf(geometry, { radius, width })).toEqual(shape)
  }
})

test('longitudes past 180 are sent as the API takes them, and rings closed', () => {
  const { geometry } = geometryOf({
    kind: 'polygon',
    positions: [
      [178, -20],
      [184, -20],
      [184, -15]
    ]
  })
  expect(geometry.coordinates).toEqual([
    [
      [178, -20],
      [-176, -20],
      [-176, -15],
      [178, -20]
    ]
  ])
})

test('areas with holes and several areas are kept as they are', () => {
  const hole = [
    [
      [0, 0],
      [9, 0],
      [9, 9],
      [0, 0]
    ],
    [
      [5, 1],
      [6, 1],
      [6, 2],
      [5, 1]
    ]
  ]
  const shape = shapeOf({ type: 'Polygon', coordinates: hole }, {})
  expect(shape?.kind).toBe('area')
  expect(geometryOf(shape!).geometry).toEqual({ type: 'Polygon', coordinates: hole })
  const several = { type: 'MultiPolygon', coordinates: [hole, hole] }
  expect(geometryOf(shapeOf(several, {})!).geometry).toEqual(several)
})

test('the corners of a circle lie on it and give its middle back', () => {
  for (const center of [
    [-8.7, 42.2],
    [179.9, -17],
    [10, 78]
  ] as Position[]) {
    const ring = circleRing(center, 50_000)
    for (const corner of ring) expect(distanceBetween(center, corner)).toBeCloseTo(50_000, 0)
    const [longitude, latitude] = middle(ring.slice(0, -1))
    expect(wrap(longitude - center[0])).toBeCloseTo(0, 6)
    expect(latitude).toBeCloseTo(center[1], 6)
  }
})

test('a shape across the antimeridian is small, and named inside', () => {
  const shape: Shape = { kind: 'polygon', positions: fiji }
  expect(boundsOf(shape)).toEqual([178, -20, 184, -15])
  expect(labelAt(shape)[0]).toBeCloseTo(181, 9)
  expect(labelAt(shape)[1]).toBeCloseTo(-17.5, 9)
})

test('a ring round the pole is closed along it', () => {
  const ring: Position[] = [
    [0, 70],
    [90, 70],
    [180, 70],
    [-90, 70]
  ]
  const geometry = shown({ kind: 'polygon', positions: ring })
  const positions = geometry.type === 'Polygon' ? (geometry.coordinates[0] ?? []) : []
  expect(positions.some(([, latitude]) => latitude === 85)).toBe(true)
  expect(positions[0]).toEqual(positions.at(-1))
})

test('sizes are those of the sphere', () => {
  const degree = 111_195
  const square: Position[] = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1]
  ]
  expect(areaOf(square) / degree ** 2).toBeCloseTo(1, 3)
  const cap: Position[] = [
    [0, 66],
    [90, 66],
    [180, 66],
    [-90, 66]
  ]
  expect(areaOf(cap) / (2 * Math.PI * 6_371_008.8 ** 2 * (1 - Math.sin((66 * Math.PI) / 180)))).toBeCloseTo(1, 6)
  const circle = sizeOf({ kind: 'circle', center: [0, 0], radius: 1000 })
  expect('area' in circle && circle.area / (Math.PI * 1e6)).toBeCloseTo(1, 5)
  const corridor = sizeOf({ kind: 'corridor', positions: [[0, 0], destination([0, 0], 5000, 90)], width: 10 })
  expect('length' in corridor && corridor.length).toBeCloseTo(5000, 3)
})
