// Fetches a track page by page, so that there is progress to show and something to cancel.
import { api, ok, type Schemas } from '$lib/api/client'
import { TrackBuilder, type Fix, type Track } from '$lib/map/track/track'
import type { Range } from '$lib/ui/time/range'

export type Alert = Schemas['Alert']

export interface Progress {
  /** From 0 to 1, by time, because the number of locations is unknown. */
  done: number
  points: number
}

/** The answer as JSON; other formats would be text. */
interface Page {
  locations: Fix[]
  nextCursor?: string | null
}

const pageSize = 10_000
const fields = 'dateTime,latitude,longitude,speed,course,altitude,battery,temperature,suspect'

/** The end is exclusive in the console and inclusive in the API. */
const query = ({ from, to }: Range): { from: string; to: string } => ({
  from: new Date(from).toISOString(),
  to: new Date(to - 1).toISOString()
})

/** The track of a range. After `cancel` it has the locations loaded so far; after `leave` it throws. */
export async function loadTrack(
  deviceId: string,
  range: Range,
  how: { leave: AbortSignal; cancel: AbortSignal; progress: (progress: Progress) => void }
): Promise<Track> {
  const builder = new TrackBuilder()
  const until = Math.min(range.to, Date.now())
  let cursor: string | undefined
  do {
    const page = (await ok(
      api.GET('/api/devices/{deviceId}/locations', {
        params: { path: { deviceId }, query: { ...query(range), limit: pageSize, cursor, fields } },
        signal: how.leave
      })
    )) as Page
    for (const fix of page.locations) builder.add(fix)
    cursor = page.nextCursor ?? undefined
    const last = Date.parse(page.locations.at(-1)?.dateTime ?? '')
    const done = (last - range.from) / (until - range.from)
    how.progress({ done: Math.min(1, Math.max(0, done || 0)), points: builder.total })
  } while (cursor && !how.cancel.aborted)
  return builder.finish()
}

/** The maximum of alerts drawn on one track. */
const mostAlerts = 1000

export async function loadAlerts(deviceId: string, range: Range, leave: AbortSignal): Promise<Alert[]> {
  const { alerts } = await ok(
    api.GET('/api/devices/{deviceId}/alerts', {
      params: { path: { deviceId }, query: { ...query(range), limit: mostAlerts, order: 'desc' } },
      signal: leave
    })
  )
  return alerts.reverse()
}
