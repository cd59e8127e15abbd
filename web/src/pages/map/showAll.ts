// Zooms to the whole fleet.
import type { Map } from 'maplibre-gl'
import { boundsOfPositions } from '$lib/map/geometry/bounds'
import { selection } from '$lib/devices/selection.svelte'

/** Shows all devices of the filter. */
export function showAll(map: Map, animate = true): void {
  const locations = selection.list().flatMap(({ location }) => (location ? [location] : []))
  const bounds = boundsOfPositions(locations)
  if (bounds) map.fitBounds(bounds, { padding: 60, maxZoom: 12, animate })
}
