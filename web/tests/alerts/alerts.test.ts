// Which alerts belong to a filter, and how it stands in an address; what alerts are called.
import { expect, test } from 'vitest'
import { apiQuery, filterIn, matches, newestFirst, queryOf, stageOf } from '$lib/alerts/filter'
import type { Schemas } from '$lib/api/client'

const alert = (change: Partial<Schemas['Alert']> = {}): Schemas['Alert'] => ({
  id: 'alr_1',
  deviceId: 'dev_1',
  dateTime: '2026-05-01T12:00:00Z',
  alertName: 'SpeedLimit',
  alerts: ['SpeedLimit'],
  critical: false,
  severity: 'warning',
  attributes: {},
  notifications: [],
  receivedAt: '2026-05-01T12:00:01Z',
  ...change
})
const asked = (query: string) => filterIn(new URLSearchParams(query))

test('an address and its filter are the same', () => {
  expect(queryOf(asked(''))).toBe('')
  expect(asked('').stage).toBe('open')
  const whole =
    '?stage=all&severity=critical&kind=A+b&device=dev_1&group=grp_1&from=2026-05-01T00%3A00%3A00.000Z&to=2026-05-02T00%3A00%3A00.000Z'
  expect(queryOf(asked(whole))).toBe(whole)
  expect(queryOf(asked('stage=nonsense&severity=x&from=y'))).toBe('')
})

test('the end of a range does not belong to it', () => {
  const filter = asked('from=2026-05-01T00:00:00Z&to=2026-05-01T12:00:00Z')
  expect(apiQuery(filter).to).toBe('2026-05-01T11:59:59.999Z')
  expect(matches(filter, alert(), [])).toBe(false)
  expect(matches(filter, alert({ dateTime: '2026-05-01T11:59:59Z' }), [])).toBe(true)
})

test('what arrives is shown when it belongs', () => {
  expect(matches(asked(''), alert(), [])).toBe(true)
  expect(matches(asked(''), alert({ acknowledgedAt: '2026-05-01T13:00:00Z' }), [])).toBe(false)
  expect(matches(asked('severity=critical'), alert(), [])).toBe(false)
  expect(matches(asked('severity=warning'), alert({ severity: 'critical' }), [])).toBe(true)
  expect(matches(asked('kind=SOSButton'), alert(), [])).toBe(false)
  expect(matches(asked('device=dev_2'), alert(), [])).toBe(false)
  expect(matches(asked('group=grp_1'), alert(), [])).toBe(false)
  expect(matches(asked('group=grp_1'), alert(), ['grp_1'])).toBe(true)
})

test('an alert that is over is over, acknowledged or not', () => {
  expect(stageOf(alert({ endedAt: '2026-05-01T13:00:00Z', acknowledgedAt: '2026-05-01T13:00:00Z' }))).toBe('ended')
  expect(stageOf(alert({ acknowledgedAt: '2026-05-01T13:00:00Z' }))).toBe('acknowledged')
})

test('newest first', () => {
  const all = [alert({ id: 'a' }), alert({ id: 'c', dateTime: '2026-05-02T00:00:00Z' }), alert({ id: 'b' })]
  expect(all.sort(newestFirst).map(({ id }) => id)).toEqual(['c', 'b', 'a'])
})
