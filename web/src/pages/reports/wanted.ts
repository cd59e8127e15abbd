// What report is wanted: the form, the address of the page, and the body of the request.
import type { Schemas } from '$lib/api/client'
import { fromField } from '$lib/ui/time/range'

export const periods = ['today', 'yesterday', 'thisWeek', 'lastWeek', 'thisMonth', 'lastMonth'] as const
export const intervals = ['day', 'week', 'month', 'period'] as const
export const groupings = ['device', 'group', 'driver', 'account'] as const
export const unitSystems = ['metric', 'imperial', 'nautical'] as const

export interface Wanted {
  kind: string
  devices: string[]
  groups: string[]
  /** `custom` is the period between the fields. */
  period: (typeof periods)[number] | 'custom'
  /** Values of date-time fields, in the reader's zone. */
  from: string
  to: string
  /** Null for the usual ones of the kind. */
  columns: string[] | null
  interval: (typeof intervals)[number]
  groupBy: (typeof groupings)[number]
  units: (typeof unitSystems)[number]
}

export interface Reader {
  language: string
  units: Wanted['units']
  timeZone: string | null
}

export const usual = (units: Wanted['units']): Wanted => ({
  kind: 'trips',
  devices: [],
  groups: [],
  period: 'lastWeek',
  from: '',
  to: '',
  columns: null,
  interval: 'day',
  groupBy: 'device',
  units
})

const oneOf = <T extends string>(all: readonly T[], text: string | null, otherwise: T): T =>
  all.find((one) => one === text) ?? otherwise

/** The report that an address names; what it leaves out is usual. */
export function wantedIn(query: URLSearchParams, units: Wanted['units']): Wanted {
  const list = (name: string): string[] => query.get(name)?.split(',').filter(Boolean) ?? []
  const base = usual(units)
  return {
    kind: query.get('kind') ?? base.kind,
    devices: list('devices'),
    groups: list('groups'),
    period: oneOf([...periods, 'custom'], query.get('period'), base.period),
    from: query.get('from') ?? '',
    to: query.get('to') ?? '',
    columns: query.has('columns') ? list('columns') : null,
    interval: oneOf(intervals, query.get('interval'), base.interval),
    groupBy: oneOf(groupings, query.get('groupBy'), base.groupBy),
    units: oneOf(unitSystems, query.get('units'), units)
  }
}

/** The report of a saved report; what it leaves out is usual. */
export function wantedOf(report: Schemas['ReportInput'], units: Wanted['units']): Wanted {
  const base = usual(units)
  return {
    ...base,
    kind: report.kind,
    devices: [...(report.devices ?? [])],
    groups: [...(report.groups ?? [])],
    period: report.period ?? base.period,
    columns: report.columns ? [...report.columns] : null,
    interval: report.interval ?? base.interval,
    groupBy: report.groupBy ?? base.groupBy,
    units: report.units ?? units
  }
}

/** The address of a report, to save as a bookmark and to send to a colleague. */
export function addressOf(wanted: Wanted, units: Wanted['units'], saved?: string): string {
  const base = usual(units)
  const query = new URLSearchParams()
  for (const name of ['kind', 'period', 'interval', 'groupBy', 'units'] as const) {
    if (wanted[name] !== base[name] || name === 'kind') query.set(name, wanted[name])
  }
  for (const name of ['devices', 'groups'] as const) if (wanted[name].length > 0) query.set(name, wanted[name].join())
  if (wanted.columns) query.set('columns', wanted.columns.join())
  if (wanted.period === 'custom') for (const name of ['from', 'to'] as const) query.set(name, wanted[name])
  return `/reports${saved ? `/${saved}` : ''}?${query}`
}

/** The body of `POST /api/reports/run`. `isTotals` says whether the rows of the kind are totals. */
export function bodyOf(wanted: Wanted, isTotals: boolean, reader: Pick<Reader, 'language' | 'timeZone'>): object {
  const zone = reader.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  const instant = (field: string): string | undefined => {
    const at = fromField(field, zone)
    return at === null ? undefined : new Date(at).toISOString()
  }
  const { kind, devices, groups, columns, units } = wanted
  return {
    kind,
    ...(devices.length > 0 ? { devices } : {}),
    ...(groups.length > 0 ? { groups } : {}),
    ...(wanted.period === 'custom'
      ? { from: instant(wanted.from), to: instant(wanted.to) }
      : { period: wanted.period }),
    ...(columns ? { columns } : {}),
    ...(kind === 'totals' ? { interval: wanted.interval } : {}),
    ...(isTotals ? { groupBy: wanted.groupBy } : {}),
    timeZone: zone,
    language: reader.language,
    units
  }
}
