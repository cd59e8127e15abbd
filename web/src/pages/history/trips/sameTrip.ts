// Finds the same trip of another time: from the same place to the same place.
import { api, ok } from '$lib/api/client'
import { metres } from '$lib/map/track/trackGeo'
import { beginOf, secondsOf, type Segment } from '$lib/trips/segments'

/** Metres between the starts, and between the ends, of two trips that are the same. */
const nearMetres = 500
const lookBackMs = 60 * 86_400_000
const pageSize = 1000

type End = Segment['start']
const isNear = (a: End, b: End): boolean => metres(a.latitude, a.longitude, b.latitude, b.longitude) <= nearMetres

/** The last trip before this one with the same ends. */
export const sameTripIn = (trips: Segment[], trip: Segment): Segment | null =>
  trips
    .filter(({ id, from }) => id !== trip.id && from < trip.from)
    .filter(({ start, end, open }) => !open && isNear(start, trip.start) && isNear(end, trip.end))
    .reduce<Segment | null>((last, one) => (last && last.from > one.from ? last : one), null)

/** Loads the last trip of the device with the same ends, of the sixty days before. */
export async function loadSameTrip(trip: Segment): Promise<Segment | null> {
  const until = beginOf(trip)
  const period = { from: new Date(until - lookBackMs).toISOString(), to: trip.from }
  let found: Segment | null = null
  let cursor: string | undefined
  do {
    const query = { ...period, device: trip.deviceId, limit: pageSize, cursor }
    const page = await ok(api.GET('/api/trips', { params: { query } }))
    found = sameTripIn(page.trips, trip) ?? found
    cursor = page.nextCursor ?? undefined
  } while (cursor)
  return found
}

/** How much longer a trip took than another, in seconds; negative if it was faster. */
export const longerBy = (trip: Segment, other: Segment): number => secondsOf(trip) - secondsOf(other)
