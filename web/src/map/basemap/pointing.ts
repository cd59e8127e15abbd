// Clicks on the map, for tools that need positions.
import type { Map, MapMouseEvent } from 'maplibre-gl'
import type { Point } from '$lib/map/geometry/geodesy'

/** Calls back with each clicked position; returns a function that stops it. */
export function onPoint(map: Map, point: (position: Point) => void): () => void {
  const clicked = ({ lngLat }: MapMouseEvent): void => point([lngLat.wrap().lng, lngLat.lat])
  map.on('click', clicked)
  map.getCanvas().style.cursor = 'crosshair'
  return () => {
    map.off('click', clicked)
    map.getCanvas().style.cursor = ''
  }
}
