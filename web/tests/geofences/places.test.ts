// Positions written by hand and files of GeoJSON become shapes.
import { expect, test } from 'vitest'
import { readGeoJson, readPosition, readPositions, writePositions } from '$lib/pages/geofences/form'

test('a position is read however it is separated', () => {
  for (const line of ['42.1, -8.9', '42.1 -8.9', '42.1;-8.9', '  42.1 ,\t-8.9 '])
    expect(readPosition(line), line).toEqual([-8.9, 42.1])
  for (const line of ['', '42.1', '1 2 3', '91, 0', '0, 181', 'a, b']) expect(readPosition(line), line).toBeNull()
})

test('positions are read and written, and the bad line is named', () => {
  expect(readPositions('1, 2\n\n3, 4\n')).toEqual([
    [2, 1],
    [4, 3]
  ])
  expect(readPositions('1, 2\nx')).toEqual({ badLine: 2 })
  expect(
    writePositions([
      [-8.9, 42.1],
      [0.12345678, 1]
    ])
  ).toBe('42.1, -8.9\n1, 0.123457')
})

const defaults = { name: (number: number) => `Area ${number}`, radius: 500, width: 1000 }

test('a file of GeoJSON gives everything that can be a geofence', () => {
  const file = {
    type: 'FeatureCollection',
    features: [
      { type: 'Feature', properties: { name: 'Port' }, geometry: { type: 'Point', coordinates: [1, 2, 30] } },
      { type: 'Feature', properties: { radius: 90 }, geometry: { type: 'Point', coordinates: [1, 2] } },
      {
        type: 'Feature',
        properties: null,
        geometry: {
          type: 'MultiLineString',
          coordinates: [
            [
              [0, 0],
              [1, 1]
            ],
            [
              [2, 2],
              [3, 3]
            ]
          ]
        }
      },
      {
        type: 'Feature',
        properties: { title: ' Bay ' },
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [0, 0],
              [1, 0],
              [1, 1],
              [0, 0]
            ]
          ]
        }
      },
      { type: 'Feature', properties: {}, geometry: null }
    ]
  }
  const found = readGeoJson(JSON.stringify(file), defaults)
  expect(found?.map(({ name, shape, sized }) => [name, shape.kind, sized])).toEqual([
    ['Port', 'circle', false],
    ['Area 2', 'circle', true],
    ['Area 3', 'corridor', false],
    ['Area 4', 'corridor', false],
    ['Bay', 'polygon', true]
  ])
  expect(found?.[0]?.shape).toEqual({ kind: 'circle', center: [1, 2], radius: 500 })
})

test('one geometry alone is taken, and what is no GeoJSON refused', () => {
  expect(readGeoJson('{"type": "Point", "coordinates": [1, 2]}', defaults)).toHaveLength(1)
  for (const text of ['', 'name,lat', '[]', '{"a": 1}', '{"type": "FeatureCollection"}']) {
    expect(readGeoJson(text, defaults), text).toBeNull()
  }
  expect(readGeoJson('{"type": "Polygon", "coordinates": [1]}', defaults)).toEqual([])
})
