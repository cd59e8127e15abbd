// The location of an alert: its own, else the last location of its device before it.
import type { Alert } from '../../alerts/wording'
import { api, ok, type Schemas } from '../../api/client'

export interface AlertPlace {
  latitude: number
  longitude: number
  /** Taken from the location before the alert, which has none of its own. */
  isGuessed: boolean
}

/** The alert's own location; null without one. */
export function ownPlace({ latitude, longitude }: Alert): AlertPlace | null {
  return latitude == null || longitude == null ? null : { latitude, longitude, isGuessed: false }
}

/** The last location of the device up to the alert; null without one or when it cannot be loaded. */
export async function placeBefore({ deviceId, dateTime }: Alert): Promise<AlertPlace | null> {
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
