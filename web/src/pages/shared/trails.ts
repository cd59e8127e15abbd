// The devices of a shared view with where they went: as the server tells it, else as it was seen since the page opened.
import type { Schemas } from '../../api/client'

type Device = Schemas['SharedDevice'] & { id?: string; trail?: SharedPlace[] | null }
export type SharedPlace = Schemas['SharedLocation']

export interface SharedThing {
  key: string
  device: Device
  /** Oldest first. */
  trail: SharedPlace[]
}

const mostPlaces = 2_000

/** The devices of a new answer, each with what was known of it before. */
export function addTrails(before: SharedThing[], devices: Device[]): SharedThing[] {
  const known = new Map(before.map((thing) => [thing.key, thing.trail]))
  const seen = new Map<string, number>()
  return devices.map((device) => {
    // Two devices may have one name: they are told apart by their order.
    const count = (seen.get(device.name) ?? 0) + 1
    seen.set(device.name, count)
    const key = device.id ?? `${count}:${device.name}`
    const places = [...(device.trail ?? known.get(key) ?? []), ...(device.lastLocation ? [device.lastLocation] : [])]
    return { key, device, trail: inOrder(places).slice(-mostPlaces) }
  })
}

function inOrder(places: SharedPlace[]): SharedPlace[] {
  const byTime = new Map(places.map((place) => [Date.parse(place.dateTime), place]))
  return [...byTime].sort(([a], [b]) => a - b).map(([, place]) => place)
}
