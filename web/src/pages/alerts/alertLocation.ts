// The location of an alert: its own, else the last location of its device before it.
import type { Alert } from '$lib/alerts/names'
import { api, ok, type Schemas } from '$lib/api/client'

export interface AlertLocation {
  latitude: number
  longitude: number
  /** Whether it is the last known location of the device, because the alert was sent without one. */
  isGuessed: boolean
  /** Time of a later fix of the same emergency, if the position is from it. */
  laterFix?: string
}

/** The location that the alert has; null without one. */
export function ownLocation(alert: Alert): AlertLocation | null {
  const { latitude, longitude, placeIsLastKnown, placeDateTime } = alert
  if (latitude == null || longitude == null) return null
  return { latitude, longitude, isGuessed: placeIsLastKnown === true, laterFix: placeDateTime ?? undefined }
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
