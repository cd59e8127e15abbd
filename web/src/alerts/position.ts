// The current or last known position of the device of an alert.
import { fleet } from '$lib/live/fleet.svelte'
import type { Alert } from './names'

export interface Position {
  latitude: number
  longitude: number
  /** Time of the position. */
  dateTime: string
  /** Whether the position is older than the alert. */
  isOlder: boolean
}

/**
 * A location after the alert, else that of the alert, else the last known one; null if there is none. Views that read
 * it are updated.
 */
export function positionOf(alert: Alert): Position | null {
  const last = fleet.get(alert.deviceId)?.location
  if (last && Date.parse(last.dateTime) >= Date.parse(alert.dateTime)) return { ...last, isOlder: false }
  const { latitude, longitude, dateTime, placeIsLastKnown, placeDateTime } = alert
  if (latitude != null && longitude != null) {
    return { latitude, longitude, dateTime: placeDateTime ?? dateTime, isOlder: placeIsLastKnown === true }
  }
  return last ? { ...last, isOlder: true } : null
}
