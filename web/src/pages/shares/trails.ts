// The devices of a shared view with their trails: from the server, extended by what arrived since the page opened.
import type { Schemas } from '$lib/api/client'

/** A device in an answer: its trail has only the new positions, and its key may be missing. */
type Device = Omit<Schemas['SharedDevice'], 'key' | 'trail'> & { key?: string; trail?: SharedPosition[] | null }
export type SharedPosition = Schemas['SharedLocation']

export interface SharedDevice {
  key: string
  device: Device
  /** Oldest first. */
  trail: SharedPosition[]
}

const mostPositions = 2_000

/** The devices of a new answer, merged with their known trails. */
export function addTrails(before: SharedDevice[], devices: Device[]): SharedDevice[] {
  const known = new Map(before.map((device) => [device.key, device.trail]))
  const seen = new Map<string, number>()
  return devices.map((device) => {
    // Two devices may have the same name: they are distinguished by their order.
    const count = (seen.get(device.name) ?? 0) + 1
    seen.set(device.name, count)
    const key = device.key ?? `${count}:${device.name}`
    const last = device.lastLocation ? [device.lastLocation] : []
    const positions = [...(known.get(key) ?? []), ...(device.trail ?? []), ...last]
    return { key, device, trail: inOrder(positions).slice(-mostPositions) }
  })
}

/** Positions may arrive this much later than newer ones of other devices. */
const latenessMs = 10 * 60_000

/** The start of the requested trails: everything at first, then only what may be new. */
export function trailSince(devices: SharedDevice[]): string {
  const newest = Math.max(
    0,
    ...devices.map(({ trail }) => Date.parse(trail.at(-1)?.dateTime ?? '1970-01-01T00:00:00Z'))
  )
  return new Date(Math.max(0, newest - latenessMs)).toISOString()
}

function inOrder(positions: SharedPosition[]): SharedPosition[] {
  const byTime = new Map(positions.map((position) => [Date.parse(position.dateTime), position]))
  return [...byTime].sort(([a], [b]) => a - b).map(([, position]) => position)
}
