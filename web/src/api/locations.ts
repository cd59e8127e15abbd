// Location histories. The API offers several formats; the console reads JSON.
import { api, ok, type Schemas } from './client'

type Location = Schemas['Location']
type PartialLocation = Pick<Location, 'dateTime' | 'latitude' | 'longitude'> & Partial<Location>

export interface Range {
  from: string
  to?: string
  limit?: number
  cursor?: string
  /** Omits points that are nearer than this many metres to the line of the others. */
  simplify?: number
  fields?: string
}

/** A page of a device's history, oldest first. */
export async function locationsOf(
  deviceId: string,
  query: Range
): Promise<{ locations: PartialLocation[]; nextCursor?: string }> {
  const answer = await ok(api.GET('/api/devices/{deviceId}/locations', { params: { path: { deviceId }, query } }))
  return answer as unknown as { locations: PartialLocation[]; nextCursor?: string }
}
