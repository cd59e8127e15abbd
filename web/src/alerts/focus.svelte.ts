// A request to show the device of an alert on the map; the map handles it once it is drawn.
import { go } from '$lib/router.svelte'

export const focus: { deviceId: string | null; count: number } = $state({ deviceId: null, count: 0 })

/** Opens the map at a device, even if it is already open there and was moved away. */
export function showOnMap(deviceId: string): void {
  focus.deviceId = deviceId
  focus.count++
  go(`/devices/${encodeURIComponent(deviceId)}`)
}
