// The present segment of a device in words.
import { preferences } from '$lib/access/preferences.svelte'
import { date, distance, duration, time } from '$lib/format/format'
import { t } from '$lib/i18n/index.svelte'
import { dayOf } from '$lib/ui/time/range'
import { beginOf, endOf, type Segment } from './segments'

/**
 * What the device does. A device that is heard stands until now; of another one only the time up to its last location
 * is known.
 */
export function nowText(segment: Segment, now: number, isHeard: boolean): string {
  const until = isHeard ? Math.max(now, endOf(segment)) : endOf(segment)
  if (segment.kind !== 'trip') {
    // A duration of at least a minute has no seconds, so that the text does not change each second.
    const seconds = Math.floor((until - beginOf(segment)) / 60_000) * 60
    const time = duration(Math.max(60, seconds))
    return t(isHeard ? 'device.stoppedFor' : 'device.stoodFor', { time })
  }
  const values = { since: since(segment, now), distance: distance(segment.distance * 1000) }
  return t(isHeard ? 'device.onTheWay' : 'device.wasOnTheWay', values)
}

/** A clock time, with the date unless it is today. */
function since({ from }: Segment, now: number): string {
  const today = dayOf(now, preferences.timeZone ?? undefined)
  return Date.parse(from) >= today.from ? time(from) : `${date(from)}, ${time(from)}`
}
