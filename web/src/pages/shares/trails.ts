// The devices of a shared view with their trails: from the server, extended by what arrived since the page opened.
import type { Schemas } from '$lib/api/client'

/** Each device has a key, and the answer holds only the new part of its trail. */
type Device = Omit<Schemas['SharedDevice'], 'key' | 'trail'> & { key?: string; trail?: SharedPlace[] | null }
export type SharedPlace = Schemas['SharedLocation']

export interface SharedDevice {
  key: string
  device: Device
  /** Oldest first. */
  trail: SharedPlace[]
}

const mostPlaces = 2_000

/** The devices of a new answer, each with what was known of it before. */
export function addTrails(before: SharedDevice[], devices: Device[]): SharedDevice[] {
  const known = new Map(before.map((device) => [device.key, device.trail]))
  const seen = new Map<string, number>()
  return devices.map((device) => {
    // Two devices may have the same name: they are distinguished by their order.
    const count = (seen.get(device.name) ?? 0) + 1
    seen.set(device.name, count)
    const key = device.key ?? `${count}:${device.name}`
    const last = device.lastLocation ? [device.lastLocation] : []
    const places = [...(known.get(key) ?? []), ...(device.trail ?? []), ...last]
    return { key, device, trail: inOrder(places).slice(-mostPlaces) }
  })
}

/** Positions may come this much later than newer ones of other devices. */
const lateness = 10 * 60_000

/** The time from which trails are requested: all of them at first, then only what may be new. */
export function trailSince(devices: SharedDevice[]): string {
  const newest = Math.max(
    0,
    ...devices.map(({ trail }) => Date.parse(trail.at(-1)?.dateTime ?? '1970-01-01T00:00:00Z'))
  )
  return new Date(Math.max(0, newest - lateness)).toISOString()
}

function inOrder(places: SharedPlace[]): SharedPlace[] {
  const byTime = new Map(places.map((place) => [Date.parse(place.dateTime), place]))
  return [...byTime].sort(([a], [b]) => a - b).map(([, place]) => place)
}
