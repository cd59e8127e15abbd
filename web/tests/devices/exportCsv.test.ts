// The CSV export of devices.
import { expect, test } from 'vitest'
import { exportCsv } from '$lib/pages/devices/exportCsv'
import { parseCsv } from '$lib/pages/devices/csv'
import type { Tracked } from '$lib/live/fleet.svelte'

const tracked = (name: string, description: string | null, location: object | null): Tracked =>
  ({
    key: 1,
    device: { name, description, status: 'online', state: 'active', lastSeen: '2026-05-01T12:00:00Z' },
    location
  }) as unknown as Tracked

test('an export is read back as it was, and runs nothing in a spreadsheet', () => {
  const text = exportCsv(
    [
      tracked('Ana, "the boat"', '=HYPERLINK("x")', {
        dateTime: '2026-05-01T11:59:00Z',
        latitude: -42.5,
        longitude: 8,
        speed: 12
      }),
      tracked('Spare', null, null)
    ],
    () => 'North, South'
  )
  const [head, first, second] = parseCsv(text)
  expect(head?.slice(0, 3)).toEqual(['name', 'identifier', 'description'])
  expect(first).toEqual([
    'Ana, "the boat"',
    '',
    `'=HYPERLINK("x")`,
    'online',
    '2026-05-01T12:00:00Z',
    '2026-05-01T11:59:00Z',
    '-42.5',
    '8',
    '12',
    '',
    '',
    'North, South'
  ])
  expect(second?.[0]).toBe('Spare')
})
