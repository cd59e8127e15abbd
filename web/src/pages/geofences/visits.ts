// Visits to a geofence as the API answers them, in pages.
import type { Schemas } from '$lib/api/client'

export type Visit = Schemas['Visit']

/** Joins the parts of visits that were divided between two pages. */
export function joined(visits: Visit[]): Visit[] {
  const whole: Visit[] = []
  for (const visit of visits) {
    const before = whole.at(-1)
    const goesOn =
      before?.deviceId === visit.deviceId && before.exit === null && visit.entry === null && before.to === visit.from
    if (before && goesOn) {
      whole[whole.length - 1] = {
        ...visit,
        from: before.from,
        entry: before.entry,
        durationSeconds: before.durationSeconds + visit.durationSeconds,
        distance: before.distance + visit.distance
      }
    } else whole.push(visit)
  }
  return whole
}

/** The newest visits first. */
export const newestFirst = (visits: Visit[]): Visit[] =>
  [...visits].sort((a, b) => Date.parse(b.from) - Date.parse(a.from))
