// Maps that operators copy: progress, problems, and whether devices are on land.
import { expect, test } from 'vitest'
import { anyOnLand } from '$lib/map/basemap/land'
import { isBusy, nextMessage, percentOf, problemMessage, type FetchedMap } from '$lib/pages/operator/maps.svelte'

const size = { bytes: 1_100, tileBytes: 1_000, downloadBytes: 1_200, requests: 3, tiles: 9, zooms: [] }
const map: FetchedMap = {
  id: 'map_01jc2m8k4n5p6',
  name: 'Streets',
  sourceHost: 'build.protomaps.com',
  country: 'ES',
  bbox: null,
  deviceDays: null,
  maxZoom: 14,
  state: 'fetching',
  problem: null,
  size,
  found: null,
  copiedBytes: 250,
  file: null,
  creation: '2026-05-01T12:00:00Z'
}

test('the progress is a part of the tiles', () => {
  expect(percentOf(map)).toBe(25)
  expect(percentOf({ ...map, copiedBytes: 2_000 })).toBe(100)
  expect(percentOf({ ...map, size: { ...size, tileBytes: 0 } })).toBe(100)
  expect(percentOf({ ...map, size: null })).toBeNull()
  expect(percentOf({ ...map, copiedBytes: null })).toBeNull()
})

test('each state has its next step', () => {
  expect(nextMessage({ ...map, state: 'measured' })).toBe('operator.mapFetch')
  expect(nextMessage({ ...map, state: 'stopped' })).toBe('operator.mapResume')
  expect(nextMessage({ ...map, state: 'failed' })).toBe('operator.mapRetry')
  expect(nextMessage({ ...map, state: 'ready' })).toBe('operator.mapUpdate')
  expect([isBusy(map), isBusy({ ...map, state: 'stopped' })]).toEqual([true, false])
})

test('an unknown problem has a message too', () => {
  expect(problemMessage('no-space')).toBe('operator.mapProblem.no-space')
  expect(problemMessage('something-new')).toBe('operator.mapProblem.disk')
})

test('land is told from sea by the outlines', () => {
  const ring = [
    [0, 0],
    [10, 0],
    [10, 10],
    [0, 10],
    [0, 0]
  ]
  const feature = (kind: string): GeoJSON.Feature => ({
    type: 'Feature',
    properties: { kind },
    geometry: { type: 'Polygon', coordinates: [ring] }
  })
  const outlines = (kind: string): GeoJSON.FeatureCollection => ({
    type: 'FeatureCollection',
    features: [feature(kind)]
  })
  expect(anyOnLand(outlines('land'), [[20, 5]])).toBe(false)
  expect(
    anyOnLand(outlines('land'), [
      [20, 5],
      [5, 5]
    ])
  ).toBe(true)
  expect(anyOnLand(outlines('sea'), [[5, 5]])).toBe(false)
  expect(anyOnLand(outlines('land'), [])).toBe(false)
})
