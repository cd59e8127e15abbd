// Days and clocks of a time zone, and what is passed over in playback.
import { expect, test } from 'vitest'
import { skipSpans } from '$lib/pages/history/playback.svelte'
import { fromField, rangeInQuery, rangeOf, startOfDay, toField } from '$lib/ui/time/range'

const at = (text: string): number => Date.parse(text)
const madrid = 'Europe/Madrid'

test('days are those of the zone', () => {
  expect(startOfDay(at('2026-05-01T23:30:00Z'), madrid)).toBe(at('2026-05-01T22:00:00Z'))
  expect(startOfDay(at('2026-05-01T21:30:00Z'), madrid)).toBe(at('2026-04-30T22:00:00Z'))
  expect(startOfDay(at('2026-05-01T05:00:00Z'), 'Asia/Kathmandu')).toBe(at('2026-04-30T18:15:00Z'))
})

test('a day on which clocks change has 23 or 25 hours', () => {
  const hours = (instant: string): number => {
    const { from, to } = rangeOf('today', madrid, at(instant))
    return (to - from) / 3_600_000
  }
  expect(hours('2026-03-29T12:00:00Z')).toBe(23)
  expect(hours('2026-10-25T12:00:00Z')).toBe(25)
  expect(hours('2026-05-01T12:00:00Z')).toBe(24)
})

test('a midnight that does not exist is the first instant of the day', () => {
  // Clocks in Santiago went from 24:00 to 01:00 on this day.
  expect(startOfDay(at('2026-09-06T15:00:00Z'), 'America/Santiago')).toBe(at('2026-09-06T04:00:00Z'))
})

test('yesterday and the last seven days', () => {
  const now = at('2026-05-08T10:00:00Z')
  expect(rangeOf('yesterday', madrid, now)).toEqual({
    from: at('2026-05-06T22:00:00Z'),
    to: at('2026-05-07T22:00:00Z')
  })
  expect(rangeOf('week', madrid, now)).toEqual({ from: at('2026-05-01T22:00:00Z'), to: at('2026-05-08T22:00:00Z') })
})

test('fields of date and time are in the zone', () => {
  expect(toField(at('2026-05-01T10:15:00Z'), madrid)).toBe('2026-05-01T12:15')
  expect(fromField('2026-05-01T12:15', madrid)).toBe(at('2026-05-01T10:15:00Z'))
  expect(fromField('', madrid)).toBeNull()
  // Shown twice, the first is meant; shown never, it is just after.
  expect(fromField('2026-10-25T02:30', madrid)).toBe(at('2026-10-25T00:30:00Z'))
  expect(fromField('2026-03-29T02:30', madrid)).toBe(at('2026-03-29T01:30:00Z'))
})

test('an address names a range, or today', () => {
  const now = at('2026-05-08T10:00:00Z')
  const query = new URLSearchParams('from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z')
  expect(rangeInQuery(query, madrid, now)).toMatchObject({ from: at('2026-05-01T00:00:00Z'), preset: null })
  expect(rangeInQuery(new URLSearchParams('range=week'), madrid, now).preset).toBe('week')
  expect(rangeInQuery(new URLSearchParams('from=x&to=y'), madrid, now).preset).toBe('today')
})

test('playback passes over idle spans', () => {
  const spans = [
    { from: 10, to: 20 },
    { from: 30, to: 40 }
  ]
  expect([5, 10, 15, 20, 25, 35, 45].map((time) => skipSpans(spans, time))).toEqual([5, 20, 20, 20, 25, 40, 45])
})
