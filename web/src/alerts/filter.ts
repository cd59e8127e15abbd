// The filter of alerts: converted from and to the URL, for the API, and applied to live events.
import type { Schemas } from '$lib/api/client'
import { alertStageValues, severityValues } from '$lib/api/schema'

type Alert = Schemas['Alert']
export type Stage = Schemas['AlertStage']
export type Severity = Schemas['Severity']

export interface AlertFilter {
  /** Null for all stages. */
  stage: Stage | null
  /** The minimum severity. */
  severity: Severity | null
  kind: string | null
  device: string | null
  group: string | null
  /** Milliseconds; the end is exclusive. */
  from: number | null
  to: number | null
}

export const stages = alertStageValues
export const severities = severityValues

export function stageOf({ acknowledgedAt, endedAt }: Alert): Stage {
  if (endedAt) return 'ended'
  return acknowledgedAt ? 'acknowledged' : 'open'
}

/** The filter in a URL; open alerts if it has none. */
export function filterIn(query: URLSearchParams): AlertFilter {
  const instant = (name: string): number | null => {
    const value = Date.parse(query.get(name) ?? '')
    return Number.isNaN(value) ? null : value
  }
  const stage = query.get('stage')
  return {
    stage: stage === 'all' ? null : (stages.find((known) => known === stage) ?? 'open'),
    severity: severities.find((known) => known === query.get('severity')) ?? null,
    kind: query.get('kind') || null,
    device: query.get('device') || null,
    group: query.get('group') || null,
    from: instant('from'),
    to: instant('to')
  }
}

/** The filter as a query, with its question mark; empty for open alerts. */
export function queryOf(filter: AlertFilter): string {
  const query = new URLSearchParams()
  if (filter.stage !== 'open') query.set('stage', filter.stage ?? 'all')
  for (const name of ['severity', 'kind', 'device', 'group'] as const) {
    const value = filter[name]
    if (value) query.set(name, value)
  }
  for (const name of ['from', 'to'] as const) {
    const value = filter[name]
    if (value !== null) query.set(name, new Date(value).toISOString())
  }
  return query.size > 0 ? `?${query}` : ''
}

/** The filter as query parameters of the API. */
export function apiQuery(filter: AlertFilter): {
  stage?: Stage
  severity?: Severity
  alertName?: string
  device?: string
  group?: string
  from?: string
  to?: string
} {
  return {
    stage: filter.stage ?? undefined,
    severity: filter.severity ?? undefined,
    alertName: filter.kind ?? undefined,
    device: filter.device ?? undefined,
    group: filter.group ?? undefined,
    from: filter.from === null ? undefined : new Date(filter.from).toISOString(),
    to: filter.to === null ? undefined : new Date(filter.to - 1).toISOString()
  }
}

/** Whether an alert matches the filter; `groups` are those of its device. */
export function matches(filter: AlertFilter, alert: Alert, groups: string[]): boolean {
  const at = Date.parse(alert.dateTime)
  if (filter.stage && stageOf(alert) !== filter.stage) return false
  if (filter.severity && severities.indexOf(alert.severity) < severities.indexOf(filter.severity)) return false
  if (filter.kind && alert.alertName !== filter.kind) return false
  if (filter.device && alert.deviceId !== filter.device) return false
  if (filter.group && !groups.includes(filter.group)) return false
  return (filter.from === null || at >= filter.from) && (filter.to === null || at < filter.to)
}

/** Newest first; alerts of the same time in the order of their IDs, as the server sorts them. */
export function newestFirst(a: Alert, b: Alert): number {
  return Date.parse(b.dateTime) - Date.parse(a.dateTime) || (a.id < b.id ? 1 : -1)
}
