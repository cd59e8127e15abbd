// The location of an alert: its own, else the last location of its device before it.
import type { Alert } from '../../alerts/names'
import { api, ok, type Schemas } from '../../api/client'

export interface AlertLocation {
  latitude: number
  longitude: number
  /** Taken from the location before the alert, which has none of its own. */
  isGuessed: boolean
}

/** The alert's own location; null without one. */
export function ownLocation({ latitude, longitude }: Alert): AlertLocation | null {
  return latitude == null || longitude == null ? null : { latitude, longitude, isGuessed: false }
}

/** The last location of the device up to the alert; null without one or when it cannot be loaded. */
export async function locationBefore({ deviceId, dateTime }: Alert): Promise<AlertLocation | null> {
  try {
    const answer = await ok(
      api.GET('/api/devices/{deviceId}/locations', {
        params: {
          path: { deviceId },
          query: { to: dateTime, order: 'desc', limit: 10, fields: 'latitude,longitude,suspect' }
        }
      })
    )
    const { locations } = answer as { locations: Schemas['LocationPart'][] }
    const found = locations.find(({ suspect }) => !suspect)
    if (found?.latitude === undefined || found.longitude === undefined) return null
    return { latitude: found.latitude, longitude: found.longitude, isGuessed: true }
  } catch {
    return null
  }
}
