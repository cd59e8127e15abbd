// Pointing at places on the map, for tools that ask for some.
import type { Map, MapMouseEvent } from 'maplibre-gl'
import type { Point } from './geodesy'

/** Tells of every place that is clicked; gives what ends that. */
export function onPoint(map: Map, point: (place: Point) => void): () => void {
  const clicked = ({ lngLat }: MapMouseEvent): void => point([lngLat.wrap().lng, lngLat.lat])
  map.on('click', clicked)
  map.getCanvas().style.cursor = 'crosshair'
  return () => {
    map.off('click', clicked)
    map.getCanvas().style.cursor = ''
  }
}
