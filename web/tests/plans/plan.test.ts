// Plans in words, their order, their progress along a route, and the body that the editor sends.
import { expect, test } from 'vitest'
import { emptyPlan, fieldsOfPlan, inputOfPlan, ladderFault, ladderOf } from '$lib/pages/plans/edit/planForm'
import { byUrgency, checkInsInWords, ladderInWords, minutesInWords, periodOf, type Plan } from '$lib/plans/plan'
import { progressOn } from '$lib/plans/progress'

const plan = (more: Partial<Plan> = {}): Plan => ({
  id: 'pln_01jc2m8k4n5p6',
  name: 'Vigo–Azores',
  kind: 'voyage',
  description: null,
  template: false,
  state: 'draft',
  devices: ['dev_01jc2m8k4n5p7'],
  travellers: [{ name: 'Ana', phone: '+34600123456', email: null, language: 'es', note: null }],
  notify: null,
  craft: null,
  waypoints: [{ name: 'Vigo', latitude: 42.24, longitude: -8.72, time: null, radius: null }],
  start: '2026-06-01T08:00:00Z',
  autoStart: false,
  expectedArrival: '2026-06-08T18:00:30Z',
  endAtDestination: false,
  timeZone: null,
  checkIns: { everyMinutes: 360, times: [], by: { message: true, location: true, words: true, geofences: [] } },
  graceMinutes: 15,
  earlyMinutes: 60,
  nudge: true,
  warnMinutes: 45,
  alarmMinutes: 105,
  words: null,
  startedAt: null,
  endedAt: null,
  pausedUntil: null,
  lastCheckIn: null,
  next: null,
  missed: null,
  alertIds: [],
  creation: '2026-05-01T07:00:00Z',
  lastModified: '2026-05-01T07:00:00Z',
  ...more
})

test('check-ins and the ladder are described in words', () => {
  expect(minutesInWords(360)).toBe('6 hours')
  expect(minutesInWords(1500)).toBe('1 day 1 hour')
  expect(minutesInWords(0)).toBe('0 minutes')
  expect(checkInsInWords(plan())).toEqual(['every 6 hours', 'on arrival'])
  const waypoints = [{ latitude: 1, longitude: 2, time: '2026-06-02T08:00:00Z' }]
  const checkIns = { ...plan().checkIns, everyMinutes: null, times: ['08:00', '20:00'] }
  expect(checkInsInWords({ checkIns, waypoints, expectedArrival: null })).toEqual([
    'at 08:00 and 20:00',
    'at 1 waypoint'
  ])
  expect(ladderInWords(plan())).toEqual([
    'after 15 minutes: message to the travellers',
    'after 1 hour: warning to the contacts',
    'after 2 hours: critical alert'
  ])
  expect(ladderInWords(plan({ nudge: false, graceMinutes: 0, warnMinutes: 0 }))).toEqual([
    'at once: warning to the contacts',
    'after 1 hour 45 minutes: critical alert'
  ])
})

test('overdue plans come first, then the one whose check-in comes first', () => {
  const next = (at: string): Partial<Plan> => ({
    state: 'active',
    next: { at, of: 'interval', waypoint: null, alarmAt: at }
  })
  const plans = [
    plan({ name: 'ended', state: 'ended' }),
    plan({ name: 'later', ...next('2026-06-02T00:00:00Z') }),
    plan({ name: 'draft' }),
    plan({ name: 'sooner', ...next('2026-06-01T00:00:00Z') }),
    plan({ name: 'overdue', state: 'overdue' })
  ]
  expect(plans.sort(byUrgency).map(({ name }) => name)).toEqual(['overdue', 'sooner', 'later', 'draft', 'ended'])
})

test('the period of a plan is that of its times, as it was or as it is planned', () => {
  expect(periodOf(plan())).toEqual({ from: Date.parse('2026-06-01T08:00Z'), to: Date.parse('2026-06-08T18:00:30Z') })
  const over = plan({ startedAt: '2026-06-02T08:00:00Z', endedAt: '2026-06-03T08:00:00Z' })
  expect(periodOf(over)).toEqual({ from: Date.parse('2026-06-02T08:00Z'), to: Date.parse('2026-06-03T08:00Z') })
  expect(periodOf(plan({ start: null, expectedArrival: null }))).toBeNull()
})

test('what the editor sends is what it was given, with the seconds that its fields lack', () => {
  const before = plan({
    craft: { name: 'Sirius', mmsi: '224123456', photoDevice: null },
    words: { checkIn: ['bien', 'ok'], end: null, pause: null, resume: null, extend: null }
  })
  const input = inputOfPlan(fieldsOfPlan(before, 'Europe/Madrid'), before, 'Europe/Madrid')
  expect(input).toMatchObject({
    name: before.name,
    start: before.start,
    expectedArrival: before.expectedArrival,
    checkIns: before.checkIns,
    graceMinutes: 15,
    warnMinutes: 45,
    alarmMinutes: 105,
    travellers: before.travellers,
    waypoints: before.waypoints,
    notify: null,
    words: before.words
  })
  expect(input.craft).toMatchObject({ name: 'Sirius', mmsi: '224123456', equipment: null, photoDevice: null })
  const fields = { ...fieldsOfPlan(before, 'Europe/Madrid'), expectedArrival: '2026-06-09T20:00' }
  expect(inputOfPlan(fields, before, 'Europe/Madrid').expectedArrival).toBe('2026-06-09T18:00:00.000Z')
})

test('a new plan has no vessel, no contacts and no words of its own, and steps in order', () => {
  const fields = { ...emptyPlan(), name: ' Tour ', devices: ['dev_01jc2m8k4n5p7'] }
  const input = inputOfPlan(fields, null, null)
  expect([input.name, input.craft, input.notify, input.words, input.checkIns.everyMinutes]).toEqual([
    'Tour',
    null,
    null,
    null,
    360
  ])
  expect(ladderOf(fields)).toEqual({ graceMinutes: 15, nudge: true, warnMinutes: 45, alarmMinutes: 105 })
  expect(ladderFault(fields)).toBeNull()
  expect(ladderFault({ graceMinutes: 60, warnAfter: 30, alarmAfter: 120 })).toBe('warnAfter')
  expect(ladderFault({ graceMinutes: 0, warnAfter: 30, alarmAfter: 20 })).toBe('alarmAfter')
})

test('progress is measured along the route, also across the antimeridian', () => {
  expect(progressOn([[0, 0]], [0, 0])).toBeNull()
  const half = progressOn(
    [
      [0, 0],
      [2, 0],
      [2, 2]
    ],
    [2.2, 0]
  )
  expect(half?.next).toBe(2)
  expect((half?.done ?? 0) / (half?.total ?? 1)).toBeCloseTo(0.5, 2)
  const pacific = progressOn(
    [
      [179, 0],
      [-179, 0]
    ],
    [-179.5, 0.1]
  )
  expect((pacific?.done ?? 0) / (pacific?.total ?? 1)).toBeCloseTo(0.75, 2)
})
