// Geofences on the map: areas filled and outlined, corridors at their true width, each with its name.
import type { ExpressionSpecification, FilterSpecification, GeoJSONSource, Map, MapLayerMouseEvent } from 'maplibre-gl'
import { fenceColour } from './fenceColours'
import { labelAt, shown, type Shape } from './drawShape'
import { fonts } from '$lib/map/basemap/fonts'

export interface Fence {
  id: string
  name: string
  shape: Shape
}

interface Options {
  dark: boolean
  /** Without it, the geofences are read-only. */
  onpick?: (id: string) => void
}

const areas = 'fences'
const labels = 'fence-names'
const equatorMetres = 40_075_016.686
const tilePx = 512

/** The width of a corridor in pixels at zoom 0; it doubles with each zoom level. */
function widthAtZero(shape: Shape): number {
  if (shape.kind !== 'corridor') return 0
  const latitude = shape.positions.reduce((sum, [, north]) => sum + north, 0) / Math.max(1, shape.positions.length)
  return (shape.width * tilePx) / (equatorMetres * Math.cos((latitude * Math.PI) / 180))
}

const collection = (features: GeoJSON.Feature[]): GeoJSON.FeatureCollection => ({ type: 'FeatureCollection', features })

export class FenceLayer {
  #picked = ''

  constructor(
    private readonly map: Map,
    private readonly options: Options
  ) {
    // The default tolerance would give circles visible corners.
    map.addSource(areas, { type: 'geojson', data: collection([]), tolerance: 0.02 })
    map.addSource(labels, { type: 'geojson', data: collection([]) })
    this.#addLayers()
    if (options.onpick) {
      for (const layer of ['fence-fill', 'fence-band']) {
        map.on('click', layer, this.#clicked)
        map.on('mouseenter', layer, this.#over)
        map.on('mouseleave', layer, this.#out)
      }
    }
  }

  /** Shows exactly these geofences. */
  show(fences: Fence[], picked = ''): void {
    this.map.getSource<GeoJSONSource>(areas)?.setData(
      collection(
        fences.map(({ id, shape }) => ({
          type: 'Feature',
          properties: { fence: id, width: widthAtZero(shape), colour: fenceColour(id, this.options.dark) },
          geometry: shown(shape)
        }))
      )
    )
    this.map.getSource<GeoJSONSource>(labels)?.setData(
      collection(
        fences
          .filter(({ name }) => name)
          .map(({ id, name, shape }) => ({
            type: 'Feature',
            properties: { fence: id, name },
            geometry: { type: 'Point', coordinates: labelAt(shape) }
          }))
      )
    )
    if (picked !== this.#picked) {
      this.#picked = picked
      this.map.setPaintProperty('fence-fill', 'fill-color', this.#colour())
      this.map.setPaintProperty('fence-outline', 'line-color', this.#colour())
      this.map.setPaintProperty('fence-band', 'line-color', this.#colour())
      this.map.setPaintProperty('fence-middle', 'line-color', this.#colour())
    }
  }

  remove(): void {
    for (const layer of ['fence-fill', 'fence-band']) {
      this.map.off('click', layer, this.#clicked)
      this.map.off('mouseenter', layer, this.#over)
      this.map.off('mouseleave', layer, this.#out)
    }
  }

  readonly #clicked = (event: MapLayerMouseEvent): void => {
    // The click was meant for a device on the geofence.
    if (event.defaultPrevented) return
    const id: unknown = event.features?.[0]?.properties.fence
    if (typeof id === 'string' && id) this.options.onpick?.(id)
  }
  readonly #over = (): void => {
    this.map.getCanvas().style.cursor = 'pointer'
  }
  readonly #out = (): void => {
    this.map.getCanvas().style.cursor = ''
  }

  #colour(): ExpressionSpecification {
    return [
      'case',
      ['==', ['get', 'fence'], this.#picked],
      this.options.dark ? '#ff9d5c' : '#c2410c',
      ['get', 'colour']
    ]
  }

  #addLayers(): void {
    const { map } = this
    const isLine: FilterSpecification = ['==', ['geometry-type'], 'LineString']
    const isArea: FilterSpecification = ['!=', ['geometry-type'], 'LineString']
    const colour = this.#colour()
    map.addLayer({
      id: 'fence-fill',
      type: 'fill',
      source: areas,
      filter: isArea,
      paint: { 'fill-color': colour, 'fill-opacity': 0.16 }
    })
    map.addLayer({
      id: 'fence-outline',
      type: 'line',
      source: areas,
      filter: isArea,
      layout: { 'line-join': 'round' },
      paint: { 'line-color': colour, 'line-width': 1.8 }
    })
    map.addLayer({
      id: 'fence-band',
      type: 'line',
      source: areas,
      filter: isLine,
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: {
        'line-color': colour,
        'line-opacity': 0.22,
        'line-width': [
          'interpolate',
          ['exponential', 2],
          ['zoom'],
          0,
          ['get', 'width'],
          24,
          ['*', ['get', 'width'], 2 ** 24]
        ]
      }
    })
    map.addLayer({
      id: 'fence-middle',
      type: 'line',
      source: areas,
      filter: isLine,
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: { 'line-color': colour, 'line-width': 1.8 }
    })
    map.addLayer({
      id: 'fence-labels',
      type: 'symbol',
      source: labels,
      layout: { 'text-field': ['get', 'name'], 'text-font': fonts.bold, 'text-size': 12, 'text-max-width': 10 },
      paint: {
        'text-color': this.options.dark ? '#d6cfff' : '#3b2aa8',
        'text-halo-color': this.options.dark ? '#0d1620' : '#ffffff',
        'text-halo-width': 1.4
      }
    })
  }
}
