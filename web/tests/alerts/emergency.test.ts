// What the console computes for an emergency: repeated alerts, telephone numbers, directions.
import { expect, test } from 'vitest'
import type { Alert } from '$lib/alerts/names'
import { repeated } from '$lib/alerts/repeated'
import { phonesIn } from '$lib/format/phones'
import { bearingTo } from '$lib/map/geometry/geodesy'

const alert = (id: string, deviceId: string, more: Partial<Alert> = {}): Alert =>
  ({ id, deviceId, alertName: 'SOSButton', severity: 'critical', ...more }) as Alert

test('alerts that repeat are one group of the newest', () => {
  const acknowledged = { acknowledgedAt: '2026-05-01T12:00:00Z' }
  const groups = repeated([
    alert('5', 'a'),
    alert('4', 'b'),
    alert('3', 'a'),
    alert('2', 'a', { alertName: 'Vibration' }),
    alert('1', 'a', acknowledged)
  ])
  expect(groups.map(({ alert: { id }, all }) => [id, ...all.map((one) => one.id)])).toEqual([
    ['5', '5', '3'],
    ['4', '4'],
    ['2', '2'],
    ['1', '1']
  ])
})

test('telephone numbers in a text can be called', () => {
  const numbers = (text: string) => phonesIn(text).flatMap(({ tel }) => tel ?? [])
  expect(numbers('MRCC Finisterre: +34 900 202 202, or 112-345-678')).toEqual(['+34900202202', '112345678'])
  expect(numbers('Call (0)91 555 44 33.')).toEqual(['0915554433'])
  expect(numbers('42.24170, -8.72070 at 2026-05-01 12:00, MMSI 224')).toEqual([])
  const text = 'Ana +34 600 111 222\nthen Luis'
  expect(
    phonesIn(text)
      .map((part) => part.text)
      .join('')
  ).toBe(text)
})

test('a bearing is the course to steer at the start', () => {
  expect(bearingTo([0, 0], [0, 1])).toBeCloseTo(0)
  expect(bearingTo([0, 0], [1, 0])).toBeCloseTo(90)
  expect(bearingTo([0, 0], [-1, 0])).toBeCloseTo(270)
  expect(bearingTo([179.9, 0], [-179.9, 0])).toBeCloseTo(90)
})
