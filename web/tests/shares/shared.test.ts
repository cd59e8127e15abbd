// Tests of a shared view: its state between two answers, and why a link shows nothing.
import { expect, test } from 'vitest'
import { endOf } from '$lib/pages/shares/linkEnd'
import { addTrails, trailSince } from '$lib/pages/shares/trails'

const device = (name: string, minute: number, more = {}) => ({
  name,
  status: 'online',
  lastLocation: { dateTime: `2026-05-01T12:0${minute}:00Z`, latitude: minute, longitude: 0 },
  ...more
})

test('a trail grows by what is new, in order', () => {
  let devices = addTrails([], [device('Van', 1)])
  devices = addTrails(devices, [device('Van', 1)])
  devices = addTrails(devices, [device('Van', 3)])
  devices = addTrails(devices, [device('Van', 2)])
  expect(devices[0]?.trail.map(({ latitude }) => latitude)).toEqual([1, 2, 3])
})

test('devices of one name keep their own trails', () => {
  let devices = addTrails([], [device('Van', 1), device('Van', 5)])
  devices = addTrails(devices, [device('Van', 2), device('Van', 6)])
  expect(devices.map(({ trail }) => trail.map(({ latitude }) => latitude))).toEqual([
    [1, 2],
    [5, 6]
  ])
})

test('locations that the server sends are added to the trail', () => {
  const trail = [1, 2].map((minute) => device('', minute).lastLocation)
  let devices = addTrails([], [device('Van', 3, { key: 'a', trail })])
  devices = addTrails(devices, [device('Renamed', 5, { key: 'a', trail: [device('', 4).lastLocation] })])
  expect(devices[0]).toMatchObject({ key: 'a', device: { name: 'Renamed' } })
  expect(devices[0]?.trail.map(({ latitude }) => latitude)).toEqual([1, 2, 3, 4, 5])
})

test('trails are asked for from a while before the newest on', () => {
  expect(trailSince([])).toBe('1970-01-01T00:00:00.000Z')
  expect(trailSince(addTrails([], [device('A', 1), device('B', 5)]))).toBe('2026-05-01T11:55:00.000Z')
})

test('a device that was never heard has no trail', () => {
  expect(addTrails([], [{ name: 'Van', status: 'never' }])[0]?.trail).toEqual([])
})

test('why a link shows nothing', () => {
  const [before, after] = ['2026-05-01T11:00:00Z', '2026-05-01T13:00:00Z']
  const now = Date.parse('2026-05-01T12:00:00Z')
  expect(endOf(undefined, now)).toBe('nothing')
  expect(endOf(before, now)).toBe('over')
  expect(endOf(after, now)).toBe('revoked')
})
