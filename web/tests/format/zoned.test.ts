import { expect, test } from 'vitest'
import { instantOf, millisOf, wallOf } from '$lib/format/zoned'

test.each([
  ['2026-05-01T12:30:00.000Z', 'Europe/Madrid', '2026-05-01T14:30'],
  ['2026-01-01T03:00:00.000Z', 'America/Bogota', '2025-12-31T22:00'],
  ['2026-07-01T00:00:00.000Z', 'Asia/Kathmandu', '2026-07-01T05:45']
])('%s in %s is %s, and back', (instant, zone, wall) => {
  expect(wallOf(instant, zone)).toBe(wall)
  expect(instantOf(wall, zone)).toBe(instant)
})

test('the hours around a change of the clock are found', () => {
  expect(instantOf('2026-03-29T01:30', 'Europe/Madrid')).toBe('2026-03-29T00:30:00.000Z')
  expect(instantOf('2026-03-29T03:30', 'Europe/Madrid')).toBe('2026-03-29T01:30:00.000Z')
})

test('an empty field is no time', () => {
  expect(millisOf('', 'UTC')).toBeNaN()
})
