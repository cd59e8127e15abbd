// Temporary lines or points that a component draws on the map.
import type { GeoJSONSource, LayerSpecification, Map } from 'maplibre-gl'
import { lowestFleetLayer } from '$lib/map/fleet/fleetStyle'

type Layer = { type: LayerSpecification['type'] } & Record<string, unknown>

/** A map source with its layers, drawn below the fleet. */
export class Overlay {
  constructor(
    private readonly map: Map,
    private readonly id: string,
    layers: Layer[]
  ) {
    map.addSource(id, { type: 'geojson', data: { type: 'FeatureCollection', features: [] } })
    const below = map.getLayer(lowestFleetLayer) ? lowestFleetLayer : undefined
    layers.forEach((layer, index) => {
      map.addLayer({ ...layer, id: `${id}-${index}`, source: id } as unknown as LayerSpecification, below)
    })
  }

  show(features: GeoJSON.Feature[]): void {
    void this.map.getSource<GeoJSONSource>(this.id)?.setData({ type: 'FeatureCollection', features })
  }

  remove(): void {
    // A new style has no layers of the old one.
    const { map, id } = this
    if (!map.getStyle()) return
    for (const layer of map.getStyle().layers) {
      if ('source' in layer && layer.source === id) map.removeLayer(layer.id)
    }
    if (map.getSource(id)) map.removeSource(id)
  }
}

export const lineFeature = (coordinates: [number, number][]): GeoJSON.Feature => ({
  type: 'Feature',
  properties: {},
  geometry: { type: 'LineString', coordinates }
})

export const pointFeature = (
  coordinates: [number, number],
  properties: Record<string, string | number> = {}
): GeoJSON.Feature => ({ type: 'Feature', properties, geometry: { type: 'Point', coordinates } })
