// Visits that are divided between pages.
import { expect, it } from 'vitest'
import { joined, newestFirst, type Visit } from '$lib/pages/geofences/visits'

const visit = (deviceId: string, from: number, to: number, whole: [boolean, boolean]): Visit => {
  const at = (minute: number): string => new Date(minute * 60_000).toISOString()
  return {
    deviceId,
    geofenceId: 'geo_1',
    from: at(from),
    to: at(to),
    entry: whole[0] ? at(from) : null,
    exit: whole[1] ? at(to) : null,
    durationSeconds: (to - from) * 60,
    distance: 1
  }
}

it('joins the parts of a visit and nothing else', () => {
  const parts = [
    visit('a', 0, 10, [true, false]),
    visit('a', 10, 20, [false, false]),
    visit('a', 20, 25, [false, true]),
    visit('a', 25, 30, [true, false]),
    visit('b', 30, 40, [false, true])
  ]
  const whole = joined(parts)
  expect(whole.map(({ durationSeconds }) => durationSeconds / 60)).toEqual([25, 5, 10])
  expect(whole[0]).toMatchObject({ entry: parts[0]?.entry, exit: parts[2]?.exit, distance: 3 })
  expect(newestFirst(whole).map(({ deviceId }) => deviceId)).toEqual(['b', 'a', 'a'])
})
