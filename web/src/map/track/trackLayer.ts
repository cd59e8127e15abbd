// A track on the map: its line in the colours of a reading, arrows for its direction, gaps dashed, and marks on it.
// Everything written on it is data of features, never HTML.
import type { ExpressionSpecification, GeoJSONSource, Map, MapLayerMouseEvent, MapMouseEvent } from 'maplibre-gl'
import { fonts } from '$lib/map/basemap/fonts'
import { severityColours, trackColours, unknownColour } from './trackColours'
import type { TrackLines } from './trackLines'

export interface TrackMark {
  kind: 'start' | 'end' | 'stop' | 'info' | 'warning' | 'critical'
  latitude: number
  longitude: number
  /** One or two characters inside the mark. */
  sign: string
  label: string
  /** The ID of the mark on the page. */
  id: string
  /** Whether it is drawn larger. */
  picked?: boolean
}

export interface TrackLayerOptions {
  dark: boolean
  /** A click on the line, or close to it. */
  ontrack: (longitude: number, latitude: number, withinMetres: number) => void
  onmark: (id: string) => void
}

const nothing: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [] }
/** Maximum distance of a click from the line. */
const reachPx = 14

export class TrackLayer {
  #rest = 0

  constructor(
    private readonly map: Map,
    private readonly options: TrackLayerOptions
  ) {
    if (!map.hasImage('track-arrow')) map.addImage('track-arrow', arrow(), { sdf: true, pixelRatio: 2 })
    for (const id of ['track-picked', 'track-path', 'track-speed', 'track-gaps', 'track-marks']) {
      map.addSource(id, { type: 'geojson', data: nothing, tolerance: 0.3 })
    }
    this.#addLines()
    this.#addMarks()
    map.on('click', this.#clicked)
    map.on('mousemove', this.#moved)
  }

  /** Draws the lines of a track; null draws none. */
  showLines(lines: TrackLines | null): void {
    const { dark } = this.options
    const colours = [...trackColours(dark), unknownColour(dark)]
    this.#set(
      'track-speed',
      lines ? lines.classes.map((part, index) => multiLine(part, { colour: colours[index] })) : []
    )
    // The rest is drawn a moment later, unless another track replaces this one before.
    clearTimeout(this.#rest)
    this.#rest = window.setTimeout(() => {
      this.#set('track-path', lines ? [multiLine(lines.path)] : [])
      this.#set('track-gaps', lines ? [multiLine(lines.gaps)] : [])
    })
  }

  /** Highlights a part of the track; empty lines highlight none. */
  showPicked(lines: [number, number][][]): void {
    this.#set('track-picked', lines.length > 0 ? [multiLine(lines)] : [])
  }

  showMarks(marks: TrackMark[]): void {
    this.#set(
      'track-marks',
      marks.map(({ latitude, longitude, ...properties }) => ({
        type: 'Feature',
        properties,
        geometry: { type: 'Point', coordinates: [longitude, latitude] }
      }))
    )
  }

  remove(): void {
    clearTimeout(this.#rest)
    this.map.off('click', this.#clicked)
    this.map.off('mousemove', this.#moved)
  }

  #set(id: string, features: GeoJSON.Feature[]): void {
    void this.map.getSource<GeoJSONSource>(id)?.setData({ type: 'FeatureCollection', features })
  }

  #featuresNear({ point }: MapMouseEvent, layers: string[]): ReturnType<Map['queryRenderedFeatures']> {
    const present = layers.filter((layer) => this.map.getLayer(layer))
    return this.map.queryRenderedFeatures(
      [
        [point.x - reachPx, point.y - reachPx],
        [point.x + reachPx, point.y + reachPx]
      ],
      { layers: present }
    )
  }

  readonly #clicked = (event: MapMouseEvent): void => {
    const mark: unknown = this.#featuresNear(event, ['track-marks'])[0]?.properties.id
    if (typeof mark === 'string') return this.options.onmark(mark)
    if (this.#featuresNear(event, ['track-casing', 'track-gaps']).length === 0) return
    const { lng, lat } = event.lngLat
    const edge = this.map.unproject([event.point.x + reachPx * 2, event.point.y])
    this.options.ontrack(lng, lat, event.lngLat.distanceTo(edge))
  }

  readonly #moved = (event: MapMouseEvent | MapLayerMouseEvent): void => {
    const isOver = this.#featuresNear(event, ['track-marks', 'track-casing']).length > 0
    this.map.getCanvas().style.cursor = isOver ? 'pointer' : ''
  }

  #addLines(): void {
    const { map } = this
    const { dark } = this.options
    const width = (extra: number): ExpressionSpecification => [
      'interpolate',
      ['linear'],
      ['zoom'],
      4,
      2.5 + extra,
      14,
      5 + extra
    ]
    const round = { 'line-cap': 'round', 'line-join': 'round' } as const
    const halo = dark ? '#0d1620' : '#ffffff'
    map.addLayer({
      id: 'track-picked',
      type: 'line',
      source: 'track-picked',
      layout: round,
      paint: { 'line-color': dark ? '#ffd84d' : '#ffb300', 'line-width': width(11), 'line-opacity': 0.75 }
    })
    map.addLayer({
      id: 'track-gaps',
      type: 'line',
      source: 'track-gaps',
      paint: { 'line-color': dark ? '#a3b0be' : '#556273', 'line-width': 2, 'line-dasharray': [1.5, 2.5] }
    })
    map.addLayer({
      id: 'track-casing',
      type: 'line',
      source: 'track-path',
      layout: round,
      paint: { 'line-color': halo, 'line-width': width(3), 'line-opacity': 0.9 }
    })
    map.addLayer({
      id: 'track-speed',
      type: 'line',
      source: 'track-speed',
      layout: round,
      paint: { 'line-color': ['get', 'colour'], 'line-width': width(0) }
    })
    map.addLayer({
      id: 'track-arrows',
      type: 'symbol',
      source: 'track-path',
      layout: {
        'symbol-placement': 'line',
        'symbol-spacing': 110,
        'icon-image': 'track-arrow',
        'icon-size': 0.7,
        'icon-rotate': 90,
        'icon-allow-overlap': true
      },
      paint: { 'icon-color': dark ? '#ffffff' : '#15202b', 'icon-halo-color': halo, 'icon-halo-width': 1.5 }
    })
  }

  #addMarks(): void {
    const { dark } = this.options
    const halo = dark ? '#0d1620' : '#ffffff'
    const text = dark ? '#e8edf3' : '#15202b'
    const colours = severityColours(dark)
    this.map.addLayer({
      id: 'track-marks',
      type: 'circle',
      source: 'track-marks',
      paint: {
        'circle-radius': ['case', ['boolean', ['get', 'picked'], false], 15, 10],
        'circle-color': [
          'match',
          ['get', 'kind'],
          'critical',
          colours.critical,
          'warning',
          colours.warning,
          'info',
          colours.info,
          'stop',
          dark ? '#e8edf3' : '#33414f',
          dark ? '#1b2531' : '#ffffff'
        ],
        'circle-stroke-width': 2,
        'circle-stroke-color': ['match', ['get', 'kind'], ['start', 'end'], text, halo]
      }
    })
    this.map.addLayer({
      id: 'track-signs',
      type: 'symbol',
      source: 'track-marks',
      layout: {
        'text-field': ['get', 'sign'],
        'text-font': fonts.bold,
        'text-size': 11,
        'text-allow-overlap': true,
        'text-ignore-placement': true
      },
      paint: { 'text-color': ['match', ['get', 'kind'], ['start', 'end'], text, halo] }
    })
    this.map.addLayer({
      id: 'track-labels',
      type: 'symbol',
      source: 'track-marks',
      layout: {
        'text-field': ['get', 'label'],
        'text-font': fonts.bold,
        'text-size': 12,
        'text-variable-anchor': ['left', 'right', 'top', 'bottom'],
        'text-radial-offset': 1.2,
        'text-justify': 'auto',
        'text-max-width': 14
      },
      paint: { 'text-color': text, 'text-halo-color': halo, 'text-halo-width': 1.4 }
    })
  }
}

function multiLine(lines: [number, number][][], properties: GeoJSON.GeoJsonProperties = {}): GeoJSON.Feature {
  return { type: 'Feature', properties, geometry: { type: 'MultiLineString', coordinates: lines } }
}

function arrow(): ImageData {
  const size = 48
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = size
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (!context) return new ImageData(size, size)
  context.translate(size / 2, size / 2)
  context.lineWidth = 7
  context.lineJoin = context.lineCap = 'round'
  context.beginPath()
  context.moveTo(-12, 8)
  context.lineTo(0, -8)
  context.lineTo(12, 8)
  context.stroke()
  return context.getImageData(0, 0, size, size)
}
