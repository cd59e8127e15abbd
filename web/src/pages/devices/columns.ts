// The columns of the table of devices, and the order of its rows by one of them.
import { rankOf, type CriticalStage } from '$lib/alerts/rank'
import type { Status, Tracked } from '$lib/live/fleet.svelte'
import { byName } from '$lib/format/sort'

export const columns = [
  'status',
  'name',
  'heard',
  'position',
  'coordinates',
  'speed',
  'course',
  'battery',
  'groups',
  'identifier'
] as const
export type Column = (typeof columns)[number]

export interface Order {
  column: Column
  descending: boolean
}

type Value = string | number | null

const statusOrder: Record<Status, number> = { online: 0, late: 1, offline: 2, never: 3, expired: 4 }

/** The sort key of a row; null comes last in both directions. */
const values: Record<Column, (tracked: Tracked, groupsOf: (tracked: Tracked) => string) => Value> = {
  status: (tracked) => statusOrder[tracked.device.state === 'expired' ? 'expired' : tracked.device.status],
  name: ({ device }) => device.name,
  heard: ({ device }) => (device.lastSeen ? -Date.parse(device.lastSeen) : null),
  position: ({ location }) => (location ? -Date.parse(location.dateTime) : null),
  coordinates: ({ location }) => (location ? -location.latitude : null),
  speed: ({ location }) => location?.speed ?? null,
  course: ({ location }) => location?.course ?? null,
  battery: ({ location }) => location?.battery ?? null,
  groups: (tracked, groupsOf) => groupsOf(tracked) || null,
  identifier: ({ device }) => device.identifier ?? null
}

const collator = new Intl.Collator(undefined, { numeric: true })

/** Orders rows; devices with a critical alert stay on top in any order. */
export function ordered(
  all: Tracked[],
  { column, descending }: Order,
  critical: ReadonlyMap<string, CriticalStage>,
  groupsOf: (tracked: Tracked) => string
): Tracked[] {
  const rows = all.map((tracked) => ({
    tracked,
    rank: rankOf(critical.get(tracked.device.id)),
    value: values[column](tracked, groupsOf)
  }))
  rows.sort(
    (a, b) => a.rank - b.rank || compare(a.value, b.value, descending) || byName(a.tracked.device, b.tracked.device)
  )
  return rows.map(({ tracked }) => tracked)
}

function compare(a: Value, b: Value, descending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b))
  return descending ? -order : order
}

/** The sort order in a URL; by name without one. */
export function orderIn(query: URLSearchParams): Order {
  const sort = query.get('sort') ?? 'name'
  const descending = sort.startsWith('-')
  const column = columns.find((known) => known === sort.replace(/^-/, ''))
  return column ? { column, descending } : { column: 'name', descending: false }
}

export const orderQuery = ({ column, descending }: Order): string => `?sort=${descending ? '-' : ''}${column}`
