// The fleet on the map: one source, updated by differences and at most a few times a second, so that thousands of
// moving devices do not block the page. Names are feature data and are never parsed as HTML.
import type { ExpressionSpecification, GeoJSONSource, GeoJSONSourceDiff, Map, MapLayerMouseEvent } from 'maplibre-gl'
import { fleet, noChange, statusOf, type Change, type Status, type Tracked } from '../live/fleet.svelte'
import { statusColours } from './colours'
import { addMarkers } from './markers'
import { fonts } from './style'

const source = 'fleet'
/** A device slower than this, in km/h, is drawn without a heading. */
const crawling = 2
/** How long changes are batched, in milliseconds: longer with more devices, because each update costs time for all. */
const gatherFor = (count: number): number => (count > 2_000 ? 1_000 : 200)

export interface FleetLayerOptions {
  dark: boolean
  onpick: (id: string) => void
  /** Which devices are shown. */
  shows: (tracked: Tracked) => boolean
}

export class FleetLayer {
  #waiting: Change = { ...noChange(), whole: true }
  #busy = false
  #timer = 0
  readonly #shown = new Set<number>()
  readonly #unlisten: () => void

  constructor(
    private readonly map: Map,
    private readonly options: FleetLayerOptions
  ) {
    addMarkers(map)
    map.addSource(source, {
      type: 'geojson',
      data: { type: 'FeatureCollection', features: [] },
      cluster: true,
      clusterRadius: 42,
      clusterMaxZoom: 11
    })
    this.#addLayers()
    map.on('click', 'fleet-devices', this.#picked)
    map.on('click', 'fleet-clusters', this.#opened)
    for (const layer of ['fleet-devices', 'fleet-clusters']) {
      map.on('mouseenter', layer, () => (map.getCanvas().style.cursor = 'pointer'))
      map.on('mouseleave', layer, () => (map.getCanvas().style.cursor = ''))
    }
    this.#unlisten = fleet.listen((change) => this.#gather(change))
    void this.#flush()
  }

  /** Redraws everything after the filter changed. */
  refresh(): void {
    this.#waiting.whole = true
    void this.#flush()
  }

  remove(): void {
    this.#unlisten()
    clearTimeout(this.#timer)
    this.map.off('click', 'fleet-devices', this.#picked)
    this.map.off('click', 'fleet-clusters', this.#opened)
  }

  #gather(change: Change): void {
    for (const [id, tracked] of change.changed) this.#waiting.changed.set(id, tracked)
    for (const [id, tracked] of change.removed) {
      this.#waiting.changed.delete(id)
      this.#waiting.removed.set(id, tracked)
    }
    this.#waiting.whole ||= change.whole
    this.#later()
  }

  #later(): void {
    this.#timer ||= window.setTimeout(() => {
      this.#timer = 0
      void this.#flush()
    }, gatherFor(fleet.snapshot.size))
  }

  async #flush(): Promise<void> {
    // Waiting changes must be flushed even if no further change arrives.
    if (this.#busy) return this.#later()
    const target = this.map.getSource<GeoJSONSource>(source)
    if (!target) return
    const change = this.#waiting
    this.#waiting = noChange()
    this.#busy = true
    try {
      if (change.whole) await target.setData(this.#everything())
      else if (change.changed.size + change.removed.size > 0) await target.updateData(this.#difference(change))
    } finally {
      this.#busy = false
    }
  }

  #everything(): GeoJSON.FeatureCollection {
    this.#shown.clear()
    const features: GeoJSON.Feature[] = []
    for (const tracked of fleet.snapshot.values()) {
      if (!tracked.location || !this.options.shows(tracked)) continue
      this.#shown.add(tracked.key)
      features.push(feature(tracked))
    }
    return { type: 'FeatureCollection', features }
  }

  #difference({ changed, removed }: Change): GeoJSONSourceDiff {
    const difference: Required<Pick<GeoJSONSourceDiff, 'add' | 'remove'>> = { add: [], remove: [] }
    for (const tracked of changed.values()) {
      const visible = tracked.location !== null && this.options.shows(tracked)
      // Adding a feature of a known id replaces it.
      if (visible) {
        this.#shown.add(tracked.key)
        difference.add.push(feature(tracked))
      } else if (this.#shown.delete(tracked.key)) difference.remove.push(tracked.key)
    }
    for (const tracked of removed.values()) if (this.#shown.delete(tracked.key)) difference.remove.push(tracked.key)
    return difference
  }

  readonly #picked = (event: MapLayerMouseEvent): void => {
    const id: unknown = event.features?.[0]?.properties.device
    if (typeof id === 'string') this.options.onpick(id)
  }

  readonly #opened = (event: MapLayerMouseEvent): void => {
    const cluster = event.features?.[0]
    const target = this.map.getSource<GeoJSONSource>(source)
    if (!cluster || !target || cluster.geometry.type !== 'Point') return
    const center = cluster.geometry.coordinates as [number, number]
    void target
      .getClusterExpansionZoom(Number(cluster.properties.cluster_id))
      .then((zoom) => this.map.easeTo({ center, zoom: zoom + 0.3 }))
  }

  #addLayers(): void {
    const colours = statusColours(this.options.dark)
    const colour: ExpressionSpecification = [
      'match',
      ['get', 'status'],
      ...(Object.entries(colours) as [Status, string][]).flat(),
      colours.never
    ] as unknown as ExpressionSpecification
    const halo = this.options.dark ? '#0d1620' : '#ffffff'
    const text = this.options.dark ? '#e8edf3' : '#15202b'
    const { map } = this
    map.addLayer({
      id: 'fleet-clusters',
      type: 'circle',
      source,
      filter: ['has', 'point_count'],
      paint: {
        'circle-color': this.options.dark ? '#2b5fa8' : '#0b5cc9',
        'circle-opacity': 0.9,
        'circle-radius': ['interpolate', ['linear'], ['ln', ['get', 'point_count']], 0.7, 13, 8, 30],
        'circle-stroke-width': 3,
        'circle-stroke-color': this.options.dark ? 'rgb(125 180 255 / 30%)' : 'rgb(11 92 201 / 25%)'
      }
    })
    map.addLayer({
      id: 'fleet-counts',
      type: 'symbol',
      source,
      filter: ['has', 'point_count'],
      layout: {
        'text-field': ['get', 'point_count_abbreviated'],
        'text-font': fonts.bold,
        'text-size': 13,
        'text-allow-overlap': true
      },
      paint: { 'text-color': '#ffffff' }
    })
    map.addLayer({
      id: 'fleet-devices',
      type: 'symbol',
      source,
      filter: ['!', ['has', 'point_count']],
      layout: {
        'icon-image': ['get', 'icon'],
        'icon-size': 0.8,
        'icon-rotate': ['get', 'course'],
        'icon-rotation-alignment': 'map',
        'icon-allow-overlap': true,
        'text-field': ['get', 'name'],
        'text-font': fonts.bold,
        'text-size': 12,
        'text-anchor': 'top',
        'text-offset': [0, 0.9],
        'text-optional': true,
        'text-max-width': 12
      },
      paint: {
        'icon-color': colour,
        'icon-halo-color': halo,
        'icon-halo-width': 2,
        'text-color': text,
        'text-halo-color': halo,
        'text-halo-width': 1.4
      }
    })
  }
}

function feature(tracked: Tracked): GeoJSON.Feature {
  const { device, location, key } = tracked
  const heading = location?.course
  const isMoving = typeof heading === 'number' && (location?.speed ?? 0) > crawling
  return {
    type: 'Feature',
    id: key,
    properties: {
      device: device.id,
      name: device.name,
      status: statusOf(tracked),
      icon: isMoving ? 'moving' : 'still',
      course: isMoving ? heading : 0
    },
    geometry: { type: 'Point', coordinates: [location?.longitude ?? 0, location?.latitude ?? 0] }
  }
}
