// A value is outdated when the device should have reported a newer one.
import { expect, test } from 'vitest'
import { isOutdated } from '$lib/live/freshness'

const now = Date.parse('2026-05-01T12:00:00Z')
const minutesAgo = (minutes: number): string => new Date(now - minutes * 60_000).toISOString()

test.each([
  ['within a set interval', 31, { expectedIntervalSeconds: 1800 }, false],
  ['after a set interval', 33, { expectedIntervalSeconds: 1800 }, true],
  [
    'a set interval counts before a learned one',
    47,
    { expectedIntervalSeconds: 3600, learnedIntervalSeconds: 60 },
    false
  ],
  ['after a learned interval', 4, { expectedIntervalSeconds: null, learnedIntervalSeconds: 60 }, true],
  ['a report may be a little late', 2, { learnedIntervalSeconds: 60 }, false],
  ['no interval is known yet', 11, {}, false],
  ['no interval, 47 minutes', 47, {}, true],
  ['no device is known', 47, null, true]
])('%s', (_, age, device, outdated) => {
  expect(isOutdated(minutesAgo(age), device, now)).toBe(outdated)
})
