// Where the device of an alert is now, or was last known to be.
import { fleet } from '$lib/live/fleet.svelte'
import type { Alert } from './names'

export interface Position {
  latitude: number
  longitude: number
  /** When the device was there. */
  dateTime: string
  /** Whether it is older than the alert. */
  isOlder: boolean
}

/** A location after the alert, else the alert's own, else the last known; null without any. Views are updated. */
export function positionOf(alert: Alert): Position | null {
  const last = fleet.get(alert.deviceId)?.location
  if (last && Date.parse(last.dateTime) >= Date.parse(alert.dateTime)) return { ...last, isOlder: false }
  const { latitude, longitude, dateTime, placeIsLastKnown, placeDateTime } = alert
  if (latitude != null && longitude != null) {
    return { latitude, longitude, dateTime: placeDateTime ?? dateTime, isOlder: placeIsLastKnown === true }
  }
  return last ? { ...last, isOlder: true } : null
}
