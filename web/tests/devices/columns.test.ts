// The order of the table of devices.
import { expect, test } from 'vitest'
import type { Tracked } from '$lib/live/fleet.svelte'
import { orderIn, orderQuery, ordered } from '$lib/pages/devices/columns'

const device = (id: string, name: string, battery: number | null): Tracked =>
  ({
    key: 1,
    device: { id, name, state: 'active', status: 'online', groups: [] },
    location: battery === null ? null : { battery, latitude: 0, longitude: 0, dateTime: '2026-05-01T00:00:00Z' }
  }) as unknown as Tracked
const all = [device('a', 'Truck 10', 50), device('b', 'Truck 2', null), device('c', 'Boat', 90)]
const ids = (sort: string, critical = new Map<string, 'open' | 'acknowledged'>()): string =>
  ordered(all, orderIn(new URLSearchParams({ sort })), critical, () => '')
    .map(({ device: { id } }) => id)
    .join('')

test('by name as people count', () => {
  expect(ids('name')).toBe('cba')
  expect(ids('-name')).toBe('abc')
})

test('what is not known is last in both directions', () => {
  expect(ids('battery')).toBe('acb')
  expect(ids('-battery')).toBe('cab')
})

test('a device in distress is on top in any order', () => {
  const critical = new Map<string, 'open' | 'acknowledged'>([
    ['c', 'acknowledged'],
    ['b', 'open']
  ])
  expect(ids('name', critical)).toBe('bca')
  expect(ids('-name', critical)).toBe('bca')
})

test('an order stands in the address', () => {
  expect(orderQuery(orderIn(new URLSearchParams('sort=-speed')))).toBe('?sort=-speed')
  expect(orderIn(new URLSearchParams('sort=nonsense'))).toEqual({ column: 'name', descending: false })
})
