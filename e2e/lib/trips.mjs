// Devices that drive and stand, and their timelines.
import { until } from './pixels.mjs'

export const minute = 60_000
/** Degrees of latitude in a kilometre. */
const degreesPerKm = 1 / 111.195

/**
 * Creates a device that reports each minute from an instant on. A leg is `{ drives: 30 }` or `{ stands: 20 }`, in minutes; it
 * drives north with 60 km/h. Waits until the timeline has all locations.
 */
export async function traveller(api, name, from, legs, { latitude = 42.24, longitude = -8.72 } = {}) {
  const device = await api.device(name)
  const locations = []
  let [at, north] = [from, latitude]
  for (const { drives = 0, stands = 0, ...more } of legs) {
    for (let step = 0; step < drives + stands; step++) {
      locations.push({ dateTime: new Date(at).toISOString(), latitude: north, longitude, speed: drives > 0 ? 60 : 0, ...more })
      at += minute
      if (drives > 0) north += degreesPerKm
    }
  }
  await api.post(`/api/devices/${device.id}/locations`, locations)
  await settled(api, device.id)
  return device
}

/** Waits until the timeline of a device has all stored locations, and returns its segments. */
export const settled = (api, id) =>
  until(`the timeline of ${id}`, async () => {
    const { segments, pending } = await api.get(`/api/devices/${id}/timeline`)
    return !pending && segments.length > 0 && segments
  })
