// The timeline of a device: its trips, stops and gaps, as the server derives them from the locations.
import { api, ok, type Schemas } from '$lib/api/client'
import type { PlaceReader } from '$lib/map/places/placeNames.svelte'
import type { Range } from '$lib/ui/time/range'

export type Segment = Schemas['Segment']
export type SegmentKind = Schemas['SegmentKind']

export interface Timeline {
  /** Oldest first; each ends when the next one begins. Those at the ends are cut to the period. */
  segments: Segment[]
  /** Whether stored locations are not considered yet. */
  pending: boolean
}

export const beginOf = (segment: Segment): number => Date.parse(segment.from)
export const endOf = (segment: Segment): number => Date.parse(segment.to)
export const rangeOfSegment = (segment: Segment): Range => ({ from: beginOf(segment), to: endOf(segment) })
export const secondsOf = (segment: Segment): number => (endOf(segment) - beginOf(segment)) / 1000

interface Asked {
  kind?: SegmentKind
  /** Adds places in words. */
  reader?: PlaceReader
  leave?: AbortSignal
}

/** The timeline of a device in a period. */
export async function loadTimeline(deviceId: string, range: Range, how: Asked = {}): Promise<Timeline> {
  const segments: Segment[] = []
  const places = how.reader ? { place: true, ...(how.reader as { language: 'en'; units: 'metric' }) } : {}
  let from: string | undefined = new Date(range.from).toISOString()
  let pending = false
  while (from) {
    const query = { from, to: new Date(range.to).toISOString(), kind: how.kind, ...places }
    const page: Timeline & { nextFrom?: string | null } = await ok(
      api.GET('/api/devices/{deviceId}/timeline', { params: { path: { deviceId }, query }, signal: how.leave })
    )
    segments.push(...page.segments)
    pending = page.pending
    from = page.nextFrom ?? undefined
  }
  return { segments, pending }
}

export interface Totals {
  /** Number of trips. */
  trips: number
  /** Of trips, in metres. */
  distance: number
  /** In seconds. */
  moving: number
  standing: number
  idling: number
  /** The time of gaps. */
  silent: number
  /** In km/h; null without a trip. */
  fastest: number | null
  average: number | null
}

/** Sums of segments. The distance and the time of gaps belong to no trip. */
export function totalsOf(segments: Segment[]): Totals {
  const totals: Totals = {
    trips: 0,
    distance: 0,
    moving: 0,
    standing: 0,
    idling: 0,
    silent: 0,
    fastest: null,
    average: null
  }
  for (const segment of segments) {
    if (segment.kind === 'gap') {
      totals.silent += secondsOf(segment)
      continue
    }
    if (segment.kind === 'trip') {
      totals.trips++
      totals.distance += segment.distance * 1000
      if (segment.maxSpeed != null) totals.fastest = Math.max(totals.fastest ?? 0, segment.maxSpeed)
    }
    totals.moving += segment.movingSeconds
    totals.standing += segment.standingSeconds
    totals.idling += segment.idlingSeconds
  }
  if (totals.moving > 0) totals.average = totals.distance / 1000 / (totals.moving / 3600)
  return totals
}

/** Stops and gaps that follow each other, joined: the periods without movement. */
export function idleOf(segments: Segment[]): Range[] {
  const idle: Range[] = []
  for (const segment of segments) {
    if (segment.kind === 'trip') continue
    const { from, to } = rangeOfSegment(segment)
    const last = idle.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else idle.push({ from, to })
  }
  return idle
}

/** The kilometres of trips in each of some periods. A trip in two of them is divided in proportion to time. */
export function kilometresIn(segments: Segment[], periods: Range[]): number[] {
  const sums = periods.map(() => 0)
  for (const segment of segments) {
    if (segment.kind !== 'trip') continue
    const { from, to } = rangeOfSegment(segment)
    periods.forEach((period, index) => {
      const shared = Math.min(to, period.to) - Math.max(from, period.from)
      if (shared > 0) sums[index]! += (segment.distance * shared) / (to - from)
    })
  }
  return sums
}
