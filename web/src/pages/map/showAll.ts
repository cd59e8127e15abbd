// Zooms to the whole fleet.
import type { Map } from 'maplibre-gl'
import { boundsOfPlaces } from '$lib/map/geometry/bounds'
import { selection } from '$lib/devices/selection.svelte'

/** Shows all devices of the filter. */
export function showAll(map: Map, animate = true): void {
  const places = selection.list().flatMap(({ location }) => (location ? [location] : []))
  const bounds = boundsOfPlaces(places)
  if (bounds) map.fitBounds(bounds, { padding: 60, maxZoom: 12, animate })
}
