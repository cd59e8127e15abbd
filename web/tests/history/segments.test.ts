// Sums over segments, the strip, the calendar, and the same trip of another time.
import { afterEach, expect, test, vi } from 'vitest'
import { labelsOf, purposeIn } from '$lib/pages/history/segments/labels'
import { cellsBefore, monthOf } from '$lib/ui/time/month'
import { sameTripIn } from '$lib/pages/history/trips/sameTrip'
import { blocksOf, marksOf, ticksOf } from '$lib/pages/history/segments/strip'
import { idleOf, kilometresIn, loadTimeline, totalsOf } from '$lib/trips/segments'
import { instant, segment } from './segment'

const madrid = 'Europe/Madrid'
const day = 1440

test('sums are those of the rows, and a gap belongs to no trip', () => {
  const totals = totalsOf([
    segment('stop', 0, 60, { idlingSeconds: 300 }),
    segment('trip', 60, 100, { maxSpeed: 90, standingSeconds: 120, movingSeconds: 2280, idlingSeconds: 60 }),
    segment('gap', 100, 200),
    segment('trip', 200, 220, { maxSpeed: 70 })
  ])
  expect(totals).toEqual({
    trips: 2,
    distance: 60_000,
    moving: 2280 + 1200,
    standing: 3600 + 120,
    idling: 360,
    silent: 6000,
    fastest: 90,
    average: 60 / (3480 / 3600)
  })
  expect(totalsOf([segment('stop', 0, 5)])).toMatchObject({ distance: 0, fastest: null, average: null })
})

test('stops and gaps that follow each other are skipped at once', () => {
  const idle = idleOf([
    segment('stop', 0, 10),
    segment('gap', 10, 30),
    segment('trip', 30, 40),
    segment('stop', 40, 50)
  ])
  expect(idle).toEqual([
    { from: instant(0), to: instant(30) },
    { from: instant(40), to: instant(50) }
  ])
})

test('the days of a calendar add up to the trips, also across midnight', () => {
  const trips = [segment('trip', -30, 90), segment('trip', 100, 110), segment('gap', 200, 300)]
  const days = [
    { from: instant(-day), to: instant(0) },
    { from: instant(0), to: instant(day) }
  ]
  expect(kilometresIn(trips, days)).toEqual([30, 100])
})

test('blocks stand where their time is, and one that nobody could see is left out', () => {
  const span = { from: instant(0), to: instant(200) }
  const all = [segment('stop', 0, 50, { idlingSeconds: 1500 }), segment('trip', 50, 51), segment('stop', 51, 200)]
  expect(blocksOf(all, span).map(({ left, width, idling }) => [left, width, idling])).toEqual([
    [0, 25, 50],
    [25, 0.5, 0],
    [25.5, 74.5, 0]
  ])
  expect(blocksOf(all, span, 1).map(({ segment: { kind } }) => kind)).toEqual(['stop', 'stop'])
  // A segment outside the strip has no block.
  expect(blocksOf([segment('trip', 300, 400)], span)).toEqual([])
})

test('alerts stand at their time, oldest first', () => {
  const alert = (minute: number) => ({ id: `alr_${minute}`, dateTime: new Date(instant(minute)).toISOString() })
  const alerts = [alert(90), alert(10), alert(300)] as Parameters<typeof marksOf>[0]
  const marks = marksOf(alerts, { from: instant(0), to: instant(100) })
  expect(marks.map(({ alert: { id }, left }) => [id, left])).toEqual([
    ['alr_10', 10],
    ['alr_90', 90]
  ])
})

test('clock times on the strip are round in the zone, also when clocks change', () => {
  const times = (from: string, to: string, most: number): string[] =>
    ticksOf({ from: Date.parse(from), to: Date.parse(to) }, madrid, most).map((at) =>
      new Date(at).toLocaleTimeString('en-GB', { timeZone: madrid, hour: '2-digit', minute: '2-digit' })
    )
  expect(times('2026-05-01T05:10:00Z', '2026-05-01T08:10:00Z', 4)).toEqual(['08:00', '09:00', '10:00'])
  expect(times('2026-04-30T22:00:00Z', '2026-05-01T22:00:00Z', 5)).toEqual([
    '00:00',
    '06:00',
    '12:00',
    '18:00',
    '00:00'
  ])
  // A day of 23 hours.
  expect(times('2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', 3)).toEqual(['00:00', '12:00', '00:00'])
  expect(times('2026-03-28T23:00:00Z', '2026-03-29T04:00:00Z', 6)).toEqual([
    '00:00',
    '01:00',
    '03:00',
    '04:00',
    '05:00',
    '06:00'
  ])
  expect(times('2026-05-01T00:00:00Z', '2026-05-31T00:00:00Z', 6).every((time) => time === '00:00')).toBe(true)
  expect(ticksOf({ from: 5, to: 5 }, madrid, 4).length).toBeLessThanOrEqual(1)
})

test('a month has its days in the zone', () => {
  const march = monthOf(Date.parse('2026-03-31T23:30:00Z'), 'UTC')
  expect([march.name, march.days.length]).toEqual(['2026-03', 31])
  // In Madrid it is April already.
  const april = monthOf(Date.parse('2026-03-31T23:30:00Z'), madrid)
  expect(april.name).toBe('2026-04')
  expect(april.range).toEqual({ from: Date.parse('2026-03-31T22:00:00Z'), to: Date.parse('2026-04-30T22:00:00Z') })
  // Clocks change in March: its days have 743 hours.
  const before = monthOf(april.range.from, madrid, -1)
  expect(before.name).toBe('2026-03')
  expect((before.range.to - before.range.from) / 3_600_000).toBe(743)
  expect(monthOf(april.range.from, madrid, -4).name).toBe('2025-12')
  expect(monthOf(Date.parse('2026-12-15T00:00:00Z'), 'Pacific/Auckland', 1).days).toHaveLength(31)
})

test('a month begins under its weekday', () => {
  // 1 May 2026 was a Friday.
  const may = monthOf(Date.parse('2026-05-10T00:00:00Z'), 'UTC')
  expect(cellsBefore(may, 1)).toBe(4)
  expect(cellsBefore(may, 7)).toBe(5)
})

test('the same trip begins and ends near by, earlier', () => {
  const here = { latitude: 42, longitude: -8 }
  const near = { latitude: 42.003, longitude: -8 }
  const far = { latitude: 42.1, longitude: -8 }
  const trip = segment('trip', 3 * day, 3 * day + 30, { start: here, end: far })
  const before = segment('trip', day, day + 40, { start: near, end: far })
  const older = segment('trip', 0, 35, { start: here, end: far })
  const back = segment('trip', 2 * day, 2 * day + 30, { start: far, end: here })
  const later = segment('trip', 4 * day, 4 * day + 30, { start: here, end: far })
  expect(sameTripIn([older, before, back, trip, later], trip)).toBe(before)
  expect(sameTripIn([back, later], trip)).toBeNull()
})

test('labels are trimmed, and an own purpose is kept', () => {
  expect(purposeIn('')).toEqual({ purpose: '', own: '' })
  expect(purposeIn('private')).toEqual({ purpose: 'private', own: '' })
  expect(purposeIn('Race')).toEqual({ purpose: 'other', own: 'Race' })
  const form = { name: ' Delivery ', purpose: 'other' as const, own: 'Race', note: '', driver: ' ' }
  expect(labelsOf(form)).toEqual({ name: 'Delivery', purpose: 'Race', note: null, driver: null })
})

afterEach(() => vi.unstubAllGlobals())

test('a long timeline is loaded in parts', async () => {
  const asked: string[] = []
  const pages = [
    { segments: [segment('stop', 0, 10)], pending: true, nextFrom: '2026-05-01T00:10:00Z' },
    { segments: [segment('trip', 10, 20)], pending: false }
  ]
  vi.stubGlobal('fetch', (request: Request) => {
    asked.push(new URL(request.url).searchParams.get('from') ?? '')
    return Promise.resolve(Response.json(pages[asked.length - 1]))
  })
  const timeline = await loadTimeline('dev_1', { from: instant(0), to: instant(60) })
  expect(timeline.segments.map(({ kind }) => kind)).toEqual(['stop', 'trip'])
  expect(timeline.pending).toBe(false)
  expect(asked).toEqual(['2026-05-01T00:00:00.000Z', '2026-05-01T00:10:00Z'])
})
