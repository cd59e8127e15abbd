// Segments for tests: minutes of a day in May.
import type { Segment, SegmentKind } from '$lib/trips/segments'

const midnight = Date.parse('2026-05-01T00:00:00Z')
export const instant = (minute: number): number => midnight + minute * 60_000
const iso = (minute: number): string => new Date(instant(minute)).toISOString()

/** A segment from one minute to another. A trip has 1 km in a minute, and moves all the time. */
export function segment(kind: SegmentKind, from: number, to: number, more: Partial<Segment> = {}): Segment {
  const seconds = (to - from) * 60
  const isTrip = kind === 'trip'
  return {
    id: `seg_${from}`,
    deviceId: 'dev_1',
    kind,
    from: iso(from),
    to: iso(to),
    open: false,
    start: { latitude: 42, longitude: -8 },
    end: { latitude: 42, longitude: -8 },
    distance: kind === 'stop' ? 0 : to - from,
    distanceSource: kind === 'gap' ? 'straight' : 'legs',
    movingSeconds: isTrip ? seconds : 0,
    standingSeconds: kind === 'stop' ? seconds : 0,
    idlingSeconds: 0,
    inferred: false,
    updatedAt: iso(to),
    ...more
  } as Segment
}
