// The points of a chart: few, and none of the peaks lost.
import { expect, test } from 'vitest'
import { TrackBuilder } from '$lib/map/track/track'
import { pointsOf } from '$lib/pages/history/points'

const start = Date.parse('2026-05-01T00:00:00Z')
const same = (value: number): number => value

function trackOf(values: [seconds: number, speed: number | null][]) {
  const builder = new TrackBuilder()
  for (const [seconds, battery] of values) {
    builder.add({ dateTime: new Date(start + seconds * 1000).toISOString(), latitude: 40, longitude: 0, battery })
  }
  return builder.finish()
}

test('the least and the greatest of each bucket are kept, in order', () => {
  const track = trackOf(Array.from({ length: 10_000 }, (_, at) => [at, at === 5001 ? 99 : at === 5002 ? 1 : 50]))
  const [times, values] = pointsOf(track, 'battery', 100, same)
  expect(times.length).toBeLessThanOrEqual(202)
  expect(values).toContain(99)
  expect(values.indexOf(99)).toBeLessThan(values.indexOf(1))
  expect([...times].sort((a, b) => a - b)).toEqual(times)
})

test('nothing joins the two sides of a gap', () => {
  const track = trackOf([
    ...[0, 60, 120].map((at): [number, number] => [at, 1]),
    ...[7200, 7260].map((at): [number, number] => [at, 2])
  ])
  const [times, values] = pointsOf(track, 'battery', 1000, same)
  expect(values).toEqual([1, 1, 1, null, 2, 2])
  expect([...times].sort((a, b) => a - b)).toEqual(times)
})

test('what was not said is not drawn, and units are converted', () => {
  const track = trackOf([
    [0, 1],
    [60, null],
    [120, 3]
  ])
  expect(pointsOf(track, 'battery', 1000, (value) => value * 2)[1]).toEqual([2, 6])
  expect(pointsOf(trackOf([]), 'battery', 10, same)).toEqual([[], []])
})
