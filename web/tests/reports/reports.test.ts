// Reports: the address that has the whole report, the request, the rows as they arrive, and the sums of the chart.
import { expect, test } from 'vitest'
import { cellText, titleOf, type Column } from '$lib/pages/reports/cells'
import { DaySums } from '$lib/pages/reports/daySums'
import { rowsOf } from '$lib/pages/reports/preview.svelte'
import { newSchedule, scheduleForm, scheduleInput } from '$lib/pages/reports/scheduleForm'
import { addressOf, bodyOf, usual, wantedIn, wantedOf, type Wanted } from '$lib/pages/reports/wanted'

const madrid = { language: 'es', timeZone: 'Europe/Madrid' }
const queryOf = (wanted: Wanted): URLSearchParams =>
  new URL(addressOf(wanted, 'metric'), 'http://localhost').searchParams

test('an address has the whole report', () => {
  const wanted: Wanted = {
    kind: 'totals',
    devices: ['dev_1', 'dev_2'],
    groups: ['grp_1'],
    period: 'custom',
    from: '2026-05-01T00:00',
    to: '2026-05-08T00:00',
    columns: ['date', 'distance'],
    interval: 'week',
    groupBy: 'group',
    units: 'nautical'
  }
  expect(wantedIn(queryOf(wanted), 'metric')).toEqual(wanted)
  expect(wantedIn(queryOf(usual('metric')), 'metric')).toEqual(usual('metric'))
  expect(addressOf(usual('metric'), 'metric')).toBe('/reports?kind=trips')
})

test('an address that says nothing useful is the usual report', () => {
  expect(wantedIn(new URLSearchParams('period=never&units=furlongs&interval=&devices='), 'imperial')).toEqual(
    usual('imperial')
  )
})

test('a request has the period in the zone of the reader', () => {
  const custom: Wanted = { ...usual('metric'), period: 'custom', from: '2026-05-01T00:00', to: '2026-05-02T00:00' }
  expect(bodyOf(custom, false, madrid)).toEqual({
    kind: 'trips',
    from: '2026-04-30T22:00:00.000Z',
    to: '2026-05-01T22:00:00.000Z',
    timeZone: 'Europe/Madrid',
    language: 'es',
    units: 'metric'
  })
})

test('only totals have an interval, and only their kinds are grouped', () => {
  const trips = bodyOf(usual('metric'), false, madrid)
  expect(trips).not.toHaveProperty('interval')
  expect(trips).not.toHaveProperty('groupBy')
  expect(trips).toMatchObject({ period: 'lastWeek' })
  expect(bodyOf({ ...usual('metric'), kind: 'totals' }, true, madrid)).toMatchObject({
    interval: 'day',
    groupBy: 'device'
  })
  const mileage = bodyOf({ ...usual('metric'), kind: 'mileage' }, true, madrid)
  expect(mileage).toHaveProperty('groupBy')
  expect(mileage).not.toHaveProperty('interval')
})

/** An answer that arrives in pieces. */
function answer(pieces: string[]): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece))
      controller.close()
    }
  })
  return new Response(body)
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const value of values) found.push(value)
  return found
}

test('rows are read however the answer is divided', async () => {
  const text = '{"device":"Ñandú","distance":1.5}\n{"device":"B","distance":null}\n{"device":"C"}'
  for (let size = 1; size <= text.length; size++) {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
    const rows = await all(rowsOf(answer(pieces)))
    expect(rows.map(({ device }) => device)).toEqual(['Ñandú', 'B', 'C'])
  }
  expect(await all(rowsOf(answer(['', '\n'])))).toEqual([])
})

test('the rest of an answer is not read when nobody wants it', async () => {
  let cancelled = false
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode('{"device":"A"}\n')),
    cancel: () => void (cancelled = true)
  })
  for await (const row of rowsOf(new Response(endless))) {
    expect(row.device).toBe('A')
    break
  }
  expect(cancelled).toBe(true)
})

test('the chart has the sum of each day, in the order of the days', () => {
  const sums = new DaySums('Europe/Madrid')
  sums.add({ from: '2026-05-02T21:59:00Z', distance: 1 })
  sums.add({ from: '2026-05-02T22:01:00Z', distance: 2 })
  sums.add({ date: '2026-05-01', distance: 5, duration: 60 })
  sums.add({ date: '2026-05-01', distance: 6 })
  sums.add({ device: 'without a date', distance: 100 })
  expect(sums.chart).toEqual({
    column: 'distance',
    names: ['2026-05-01', '2026-05-02', '2026-05-03'],
    values: [11, 1, 2]
  })
})

test('of visits to geofences the time is drawn, on the day of the entry', () => {
  const visits = new DaySums('UTC')
  visits.add({ entry: '2026-05-01T08:00:00Z', duration: 600, distance: 3 })
  visits.add({ entry: '2026-05-01T12:00:00Z', duration: 60, distance: 1 })
  expect(visits.chart).toEqual({ column: 'duration', names: ['2026-05-01'], values: [660] })
})

test('many days are drawn as months, and nothing is drawn without a figure', () => {
  const year = new DaySums('UTC')
  for (let day = 0; day < 365; day++) {
    year.add({ from: new Date(Date.UTC(2026, 0, 1 + day)).toISOString(), idling: 60 })
  }
  expect(year.chart?.names).toHaveLength(12)
  expect(year.chart).toMatchObject({ column: 'idling', values: expect.arrayContaining([31 * 60]) as number[] })
  const none = new DaySums('UTC')
  none.add({ date: '2026-05-01', distance: 0 })
  expect(none.chart).toBeNull()
})

test('cells are written for the reader', () => {
  const column = (type: Column['type'], unit: string | null = null): Column => ({ id: 'x', title: 'X', type, unit })
  expect(titleOf(column('distance', 'km'))).toBe('X (km)')
  expect(cellText(column('distance'), 43.215)).toBe((43.22).toLocaleString('en'))
  expect(cellText(column('duration'), 3720)).toBe('1 h 2 min')
  expect(cellText(column('count'), null)).toBe('')
  expect(cellText(column('text'), '=1+1')).toBe('=1+1')
  expect(cellText(column('date'), '2026-05-01')).toContain('2026')
})

test('a saved report is shown as it was wanted, and its page keeps its address', () => {
  const wanted: Wanted = { ...usual('metric'), kind: 'totals', devices: ['dev_1'], columns: ['date'], interval: 'week' }
  const body = bodyOf(wanted, true, madrid) as Parameters<typeof wantedOf>[0]
  expect(wantedOf(body, 'imperial')).toEqual(wanted)
  expect(wantedOf({ kind: 'trips' }, 'imperial')).toEqual(usual('imperial'))
  expect(addressOf(usual('metric'), 'metric', 'rpt_1')).toBe('/reports/rpt_1?kind=trips')
})

test('a schedule sends only what its frequency uses', () => {
  const weekly = newSchedule('Europe/Madrid', 'usr_1')
  expect(scheduleInput(weekly)).toMatchObject({
    frequency: 'weekly',
    weekdays: ['monday'],
    monthDay: null,
    time: '07:00'
  })
  expect(scheduleInput(weekly).users).toEqual([{ id: 'usr_1', minimumSeverity: 'info' }])
  expect(scheduleInput({ ...weekly, frequency: 'daily' })).toMatchObject({ weekdays: [], monthDay: null })
  const monthly = scheduleInput({ ...weekly, frequency: 'monthly', monthDay: 'last' })
  expect(monthly).toMatchObject({ weekdays: [], monthDay: 'last' })
})

test('a schedule is edited as it is stored', () => {
  const stored = {
    enabled: false,
    frequency: 'monthly' as const,
    weekdays: [],
    monthDay: '15',
    time: '06:30',
    timeZone: 'Asia/Tokyo',
    format: 'pdf' as const,
    recipients: [],
    users: [],
    contactGroups: [{ id: 'ctg_1', minimumSeverity: 'info' as const, schedule: null }]
  }
  const form = scheduleForm(stored)
  expect(form).toMatchObject({ enabled: false, monthDay: '15', weekdays: ['monday'], format: 'pdf' })
  expect(scheduleInput(form)).toMatchObject({ ...stored, contactGroups: [{ id: 'ctg_1' }] })
})
