// Tracks: how they are gathered, where they stop, what they come to, how they are drawn and played.
import { expect, test } from 'vitest'
import { TrackBuilder, type Fix, type Track } from '$lib/map/track/track'
import { indexAt, momentAt, nearestTo, partOf } from '$lib/map/track/trackAt'
import { boundsOfPositions } from '$lib/map/geometry/bounds'
import { readingScale, speedScale, unknownClass } from '$lib/map/track/trackColours'
import { bearing, eastward, metres, wrap } from '$lib/map/track/trackGeo'
import { boundsOf, joinBounds, linesOf } from '$lib/map/track/trackLines'

const start = Date.parse('2026-05-01T00:00:00Z')

type Place = [seconds: number, latitude: number, longitude: number, more?: Partial<Fix>]

function trackOf(places: Place[], most?: number): Track {
  const builder = new TrackBuilder(most)
  for (const [seconds, latitude, longitude, more] of places) {
    builder.add({ dateTime: new Date(start + seconds * 1000).toISOString(), latitude, longitude, ...more })
  }
  return builder.finish()
}

/** One place a minute, this many degrees of latitude apart. */
const line = (count: number, step: number, from = 0, latitude = 40): Place[] =>
  Array.from({ length: count }, (_, at) => [from + at * 60, latitude + at * step, 0])

test('longitudes go the shorter way round', () => {
  expect(wrap(190)).toBe(-170)
  expect(wrap(-190)).toBe(170)
  expect(eastward(179, -179)).toBe(2)
  expect(eastward(-179, 179)).toBe(-2)
  expect(metres(0, 179.5, 0, -179.5)).toBeCloseTo(111_195, -1)
  expect(bearing(0, 179, 0, -179)).toBeCloseTo(90)
})

test('doubtful locations and second ones of an instant are left out', () => {
  const track = trackOf([
    [0, 40, 0],
    [10, 0, 0, { suspect: true }],
    [20, 40.001, 0],
    [20, 50, 0],
    [30, 40.002, 0]
  ])
  expect(Array.from(track.latitude)).toEqual([40, 40.001, 40.002])
  expect(track.total).toBe(5)
  expect(track.doubtful).toBe(1)
})

test('too many locations are thinned evenly, and counted all', () => {
  const places = Array.from({ length: 1000 }, (_, at): Place => [at, at / 1000, 0, { speed: at === 501 ? 99 : 10 }])
  const track = trackOf(places, 300)
  expect(track.total).toBe(1000)
  expect(track.stride).toBe(4)
  expect(track.length).toBe(250)
  expect(track.latitude[249]).toBeCloseTo(0.996)
  expect(track.fastest).toBe(99)
})

test('a speed that was not sent is reckoned from the place before', () => {
  const track = trackOf(line(3, 0.01))
  expect(track.speed[0]).toBeNaN()
  expect(track.speed[1]).toBeCloseTo(66.7, 1)
})

test('a silence is a gap: dashed and not driven', () => {
  const track = trackOf([...line(5, 0.01), ...line(5, 0.01, 7200, 41)])
  const lines = linesOf(track, 1, () => 0)
  expect(lines.path).toHaveLength(2)
  expect(lines.gaps).toEqual([
    [
      [0, 40.04],
      [0, 41]
    ]
  ])
})

test('a device that slept where it stood has no line of a gap', () => {
  const track = trackOf([...line(5, 0.01), ...line(5, 0.01, 7200, 40.04)])
  expect(linesOf(track, 1, () => 0).gaps).toEqual([])
})

test('a part of a track has the locations of its period, both ends included', () => {
  const track = trackOf(line(10, 0.01))
  const times = (from: number, to: number): number[] =>
    Array.from(partOf(track, start + from * 1000, start + to * 1000).time, (time) => (time - start) / 1000)
  expect(times(60, 180)).toEqual([60, 120, 180])
  expect(times(61, 179)).toEqual([120])
  expect(times(61, 119)).toEqual([])
  expect(times(-100, 30)).toEqual([0])
  expect(times(-100, -50)).toEqual([])
  expect(times(530, 9999)).toEqual([540])
  expect(times(541, 9999)).toEqual([])
  expect(partOf(trackOf([]), 0, 1).length).toBe(0)
})

test('who reports by the hour has no gap each hour', () => {
  const track = trackOf(Array.from({ length: 6 }, (_, at): Place => [at * 3600, 40 + at / 10, 0]))
  expect(linesOf(track, 1, () => 0).gaps).toEqual([])
})

test('lines are left out where the map has no tiles', () => {
  const track = trackOf([
    [0, 84, 0],
    [60, 85, 1],
    [120, 89, 20],
    [180, 85, 40],
    [240, 84, 41]
  ])
  const { path } = linesOf(track, 1, () => 0)
  expect(path).toEqual([
    [
      [0, 84],
      [1, 85]
    ],
    [
      [40, 85],
      [41, 84]
    ]
  ])
})

test('lines are cut at the antimeridian, both ways', () => {
  const track = trackOf([
    [0, 0, 179],
    [60, 2, -179],
    [120, 4, 179]
  ])
  const { path } = linesOf(track, 1, () => 0)
  expect(path).toEqual([
    [
      [179, 0],
      [180, 1]
    ],
    [
      [-180, 1],
      [-179, 2],
      [-180, 3]
    ],
    [
      [180, 3],
      [179, 4]
    ]
  ])
  expect(boundsOf(track)).toEqual([179, 0, 181, 4])
})

test('classes of speed join without holes', () => {
  const speeds = [10, 10, 90, 90, 10]
  const track = trackOf(speeds.map((speed, at): Place => [at * 60, 40 + at / 100, 0, { speed }]))
  const [slow, fast] = linesOf(track, 2, (speed) => (speed > 50 ? 1 : 0)).classes
  expect(slow?.map((part) => part.map(([, latitude]) => latitude))).toEqual([
    [40, 40.01],
    [40.03, 40.04]
  ])
  expect(fast?.map((part) => part.map(([, latitude]) => latitude))).toEqual([[40.01, 40.03]])
})

test('a long dense track is drawn with few corners', () => {
  const places = Array.from({ length: 86_400 }, (_, at): Place => [at, at / 50_000, Math.sin(at / 500) / 10])
  const { path } = linesOf(trackOf(places), 1, () => 0)
  expect(path).toHaveLength(1)
  expect(path[0]?.length).toBeLessThan(10_000)
  expect(path[0]?.at(-1)).toEqual([Math.sin(86_399 / 500) / 10, 86_399 / 50_000])
})

/** Metres from a place to the nearest part of a line, on a plane. */
function besides([, latitude, longitude]: Place, line: [number, number][]): number {
  const scale = Math.cos((latitude * Math.PI) / 180)
  const flat = line.map(([x, y]): [number, number] => [(x - longitude) * scale * 111_195, (y - latitude) * 111_195])
  return Math.min(
    ...flat.slice(1).map(([x2, y2], index) => {
      const [x1, y1] = flat[index]!
      const [dx, dy] = [x2 - x1, y2 - y1]
      const part = Math.min(1, Math.max(0, -(x1 * dx + y1 * dy) / (dx * dx + dy * dy || 1)))
      return Math.hypot(x1 + part * dx, y1 + part * dy)
    })
  )
}

test('a line leaves out corners and no bend', () => {
  const wave = Array.from({ length: 400 }, (_, at): Place => [at * 10, 42 + at / 2000, -8 + Math.sin(at / 20) / 200])
  // There and back on one road, to its very end.
  const back = Array.from({ length: 60 }, (_, at): Place => [at * 10, 42, -8 + (at < 40 ? at : 80 - at) / 500])
  for (const places of [wave, back]) {
    const { path } = linesOf(trackOf(places), 1, () => 0)
    expect(path).toHaveLength(1)
    expect(path[0]!.length).toBeLessThan(places.length / 2)
    for (const place of places) expect(besides(place, path[0]!)).toBeLessThan(3)
  }
})

test('playback goes by time between locations', () => {
  const track = trackOf([
    [0, 0, 179, { speed: 10, battery: 50 }],
    [60, 2, -179, { speed: 30 }],
    [90, 2, -179, { speed: 0 }]
  ])
  const half = momentAt(track, start + 30_000)
  expect(half).toMatchObject({ index: 0, latitude: 1, speed: 20, battery: 50, altitude: null, inGap: false })
  expect(Math.abs(half?.longitude ?? 0)).toBe(180)
  expect(momentAt(track, start + 45_000)?.longitude).toBeCloseTo(-179.5)
  expect(momentAt(track, start - 5000)).toMatchObject({ index: 0, latitude: 0 })
  expect(momentAt(track, start + 500_000)).toMatchObject({ index: 2, latitude: 2, longitude: -179 })
  expect(indexAt(track, start + 60_000)).toBe(1)
})

test('in a gap the place is a guess and nothing is measured', () => {
  const track = trackOf([...line(5, 0.01), ...line(5, 0.01, 7200, 41)])
  expect(momentAt(track, start + 3_600_000)).toMatchObject({ inGap: true, speed: null })
})

test('a click finds the location next to it, or none', () => {
  const track = trackOf([
    [0, 0, 179.9],
    [60, 0, -179.9],
    [120, 0, -179]
  ])
  expect(nearestTo(track, 0.001, 180.09, 2000)).toBe(1)
  expect(nearestTo(track, 0.001, -180.11, 2000)).toBe(0)
  expect(nearestTo(track, 10, 0, 2000)).toBeNull()
})

test('the scale of speeds fits walkers and aeroplanes', () => {
  const same = (speed: number): number => speed
  const walker = speedScale([0, 3, 4, 5, 6], same)
  expect(walker.limits).toEqual([1, 2, 3, 4, 5])
  expect(walker.classOf(5.5)).toBe(5)
  expect(speedScale([800, 850, 900], same).limits[0]).toBe(150)
  expect(speedScale([Number.NaN, 0], same).classOf(Number.NaN)).toBe(0)
})

test('the scale of a reading goes from its low to its high values', () => {
  const same = (value: number): number => value
  const water = readingScale([11.2, 11.9, 12.6, Number.NaN, 13.1], same)
  expect(water.limits).toEqual([11.5, 12, 12.5, 13, 13.5])
  expect([11.2, 11.6, 13.1, 40, -5].map(water.classOf)).toEqual([0, 1, 4, 5, 0])
  expect(water.classOf(Number.NaN)).toBe(unknownClass)
  expect(readingScale([], same).limits).toHaveLength(5)
})

test('bounds of tracks are joined across the antimeridian', () => {
  expect(joinBounds([])).toBeNull()
  expect(
    joinBounds([
      [178, -20, 181, -15],
      [-179.5, -18, -178, -10]
    ])
  ).toEqual([178, -20, 182, -10])
})

test('places around the antimeridian are shown from the near side', () => {
  const at = (longitude: number) => ({ latitude: 10, longitude })
  expect(boundsOfPositions([at(170), at(-170), at(175)])).toEqual([170, 10, 190, 10])
  expect(boundsOfPositions([at(-10), at(20)])).toEqual([-10, 10, 20, 10])
  // To the last digit: an east that is west of the west would be the whole world.
  expect(boundsOfPositions([at(-47.123456789)])).toEqual([-47.123456789, 10, -47.123456789, 10])
  expect(boundsOfPositions([])).toBeNull()
  // Who is everywhere is shown as maps usually are.
  expect(boundsOfPositions([at(-120), at(-45), at(10), at(140), at(150)])).toEqual([-120, 10, 150, 10])
})
