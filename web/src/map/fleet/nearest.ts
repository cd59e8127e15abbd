// Finds the devices nearest to a position.
import type { Tracked } from '$lib/live/fleet.svelte'
import { distanceBetween, type Point } from '$lib/map/geometry/geodesy'

export interface Near {
  tracked: Tracked
  metres: number
}

/** The nearest devices that have a location, nearest first. */
export function nearestTo(position: Point, devices: Tracked[], count: number): Near[] {
  const near = devices.flatMap((tracked): Near[] => {
    const { location } = tracked
    if (!location) return []
    return [{ tracked, metres: distanceBetween(position, [location.longitude, location.latitude]) }]
  })
  return near.sort((a, b) => a.metres - b.metres).slice(0, count)
}
