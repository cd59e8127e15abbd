// The devices of a shared view on the map, with their trails. Names are data of features, never HTML.
import type { ExpressionSpecification, GeoJSONSource, Map, MapLayerMouseEvent } from 'maplibre-gl'
import type { Status } from '$lib/live/fleet.svelte'
import { statusColours } from '$lib/map/fleet/colours'
import { addMarkers } from '$lib/map/fleet/markers'
import { fonts } from '$lib/map/basemap/fonts'
import { cutLine } from './trackLines'

export interface SharedDot {
  key: string
  name: string
  status: string
  course: number | null
  speed: number | null
  /** Oldest first; the last is the current position. */
  trail: { latitude: number; longitude: number }[]
}

const nothing: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [] }
/** A device slower than this, in km/h, is drawn without a heading. */
const crawlingKmh = 2

export class SharedLayer {
  constructor(
    private readonly map: Map,
    private readonly options: { dark: boolean; onpick: (key: string) => void }
  ) {
    addMarkers(map)
    map.addSource('shared-trails', { type: 'geojson', data: nothing })
    map.addSource('shared-devices', { type: 'geojson', data: nothing })
    const { dark } = options
    const colours = statusColours(dark)
    const colour = [
      'match',
      ['get', 'status'],
      ...(Object.entries(colours) as [Status, string][]).flat(),
      colours.never
    ] as unknown as ExpressionSpecification
    const halo = dark ? '#0d1620' : '#ffffff'
    map.addLayer({
      id: 'shared-trails',
      type: 'line',
      source: 'shared-trails',
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: { 'line-color': dark ? '#7db4ff' : '#0b5cc9', 'line-width': 3.5, 'line-opacity': 0.75 }
    })
    map.addLayer({
      id: 'shared-devices',
      type: 'symbol',
      source: 'shared-devices',
      layout: {
        'icon-image': ['get', 'icon'],
        'icon-size': 1,
        'icon-rotate': ['get', 'course'],
        'icon-rotation-alignment': 'map',
        'icon-allow-overlap': true,
        'text-field': ['get', 'name'],
        'text-font': fonts.bold,
        'text-size': 13,
        'text-anchor': 'top',
        'text-offset': [0, 1.1],
        'text-optional': true,
        'text-max-width': 14
      },
      paint: {
        'icon-color': colour,
        'icon-halo-color': halo,
        'icon-halo-width': 2,
        'text-color': dark ? '#e8edf3' : '#15202b',
        'text-halo-color': halo,
        'text-halo-width': 1.4
      }
    })
    map.on('click', 'shared-devices', this.#picked)
  }

  show(dots: SharedDot[]): void {
    const trails = dots.map(({ trail }): GeoJSON.Feature => ({
      type: 'Feature',
      properties: {},
      geometry: { type: 'MultiLineString', coordinates: cutLine(trail) }
    }))
    const devices = dots.flatMap(({ key, name, status, course, speed, trail }): GeoJSON.Feature[] => {
      const last = trail.at(-1)
      if (!last) return []
      const isMoving = course !== null && (speed ?? 0) > crawlingKmh
      const properties = { key, name, status, icon: isMoving ? 'moving' : 'still', course: isMoving ? course : 0 }
      return [
        { type: 'Feature', properties, geometry: { type: 'Point', coordinates: [last.longitude, last.latitude] } }
      ]
    })
    this.#set('shared-trails', trails)
    this.#set('shared-devices', devices)
  }

  remove(): void {
    this.map.off('click', 'shared-devices', this.#picked)
  }

  #set(id: string, features: GeoJSON.Feature[]): void {
    void this.map.getSource<GeoJSONSource>(id)?.setData({ type: 'FeatureCollection', features })
  }

  readonly #picked = (event: MapLayerMouseEvent): void => {
    const key: unknown = event.features?.[0]?.properties.key
    if (typeof key === 'string') this.options.onpick(key)
  }
}
