// Where an alert happened: as it says itself, else where its device was last heard before.
import type { Alert } from '../../alerts/wording'
import { api, ok, type Schemas } from '../../api/client'

export interface AlertPlace {
  latitude: number
  longitude: number
  /** The alert itself does not say: it is from the location before it. */
  isGuessed: boolean
}

/** The place that an alert says; null when it says none. */
export function ownPlace({ latitude, longitude }: Alert): AlertPlace | null {
  return latitude == null || longitude == null ? null : { latitude, longitude, isGuessed: false }
}

/** The last location of the device up to the alert; null when there is none, or it cannot be asked for now. */
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
