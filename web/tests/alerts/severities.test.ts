import { expect, test } from 'vitest'
import { Severities, worseOf } from '$lib/live/severities'

test('the worst alert that has not ended counts', () => {
  const severities = new Severities()
  severities.put({ id: 'a', deviceId: 'd', severity: 'warning', endedAt: null })
  severities.put({ id: 'b', deviceId: 'd', severity: 'critical', endedAt: null })
  expect(severities.worstOf('d')).toBe('critical')
  severities.put({ id: 'b', deviceId: 'd', severity: 'critical', endedAt: '2026-05-01T12:00:00Z' })
  expect(severities.worstOf('d')).toBe('warning')
  severities.forget('a')
  expect(severities.worstOf('d')).toBeNull()
})

test('nothing is less than anything', () => {
  expect(worseOf(null, 'info')).toBe('info')
  expect(worseOf('critical', 'warning')).toBe('critical')
  expect(worseOf(null, null)).toBeNull()
})
