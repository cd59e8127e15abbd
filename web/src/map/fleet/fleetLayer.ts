// The fleet on the map: one source with what is in view, updated at most a few times a second, so that thousands of
// moving devices do not block the page.
import type { GeoJSONSource, Map as MapLibreMap, MapMouseEvent } from 'maplibre-gl'
import { fleet, noChange, statusOf, type Change, type Tracked } from '$lib/live/fleet.svelte'
import type { Severity } from '$lib/live/severities'
import { spreadOf, worldSize, type Cluster } from './clusters'
import { FleetFeatures } from './fleetFeatures'
import { isPolar, levelOf, sceneOf, spotOf, type DeviceSpot, type Scene, type Spider, type View } from './fleetScene'
import { clusterLayer, deviceLayers, fleetLayers, fleetSource, legSource } from './fleetStyle'
import { Movement } from './movement'
import { PolarMarkers } from './polarMarkers'
import { boundsOfPositions } from '$lib/map/geometry/bounds'
import { toLngLat, toUnit } from '$lib/map/geometry/unitSquare'

/** How long changes are gathered, in milliseconds: longer with more devices, because each update costs time for all. */
const gatherFor = (count: number): number => (count > 2_000 ? 1_000 : 200)
/** Milliseconds between two frames of a movement. */
const frameEvery = 80
/** Maximum number of shown devices up to which they are moved smoothly. */
const mostMoving = 250
/** Interval at which ages in labels are updated, in milliseconds. */
const agesEvery = 20_000
/** Up to this zoom a click on a cluster zooms in on its devices; beyond it they are drawn around their spot. */
const deepest = 17
/** Devices that cover less than this many pixels at the deepest zoom are at one spot. */
const oneSpot = 30
/** Below this zoom all longitudes of a globe may be in view. */
const wholeGlobe = 6

export interface FleetLayerOptions {
  dark: boolean
  /** Without it the devices cannot be picked. */
  onpick?: (id: string) => void
  /** Which devices are shown. */
  shows: (tracked: Tracked) => boolean
  /** Which devices are drawn faintly, below the others; none if omitted. */
  dims?: (tracked: Tracked) => boolean
  severityOf?: (device: string) => Severity | null
  /** Whether clicks are handled now; always if omitted. */
  answers?: () => boolean
  /** Called with the number of devices beyond the edge of a flat map. */
  onpolar?: (count: number) => void
}

export class FleetLayer {
  readonly #spots = new Map<number, DeviceSpot>()
  readonly #features: FleetFeatures
  readonly #movement = new Movement()
  readonly #polar: PolarMarkers
  readonly #unlisten: () => void
  readonly #ages: number
  #waiting: Change = { ...noChange(), whole: true }
  #scene: Scene = { clusters: [], singles: [], legs: [] }
  #picked: string | undefined
  #clusters = true
  #spider: Spider | null = null
  #level = NaN
  #busy = false
  #hasLegs = false
  #timer = 0
  #frame = 0

  constructor(
    private readonly map: MapLibreMap,
    private readonly options: FleetLayerOptions
  ) {
    this.#features = new FleetFeatures(map, options.dark)
    for (const id of [fleetSource, legSource]) {
      map.addSource(id, { type: 'geojson', data: { type: 'FeatureCollection', features: [] } })
    }
    for (const layer of fleetLayers(options.dark)) map.addLayer(layer)
    this.#polar = new PolarMarkers(map, { dark: options.dark, onpick: (id) => options.onpick?.(id) })
    map.on('move', this.#moved)
    map.on('moveend', this.#movedEnd)
    map.on('click', this.#clicked)
    map.on('mousemove', this.#hovered)
    this.#unlisten = fleet.listen((change) => this.#collect(change))
    this.#ages = window.setInterval(() => this.#scheduleUpdate(0), agesEvery)
    this.#scheduleUpdate(0)
  }

  /** Draws everything again after the filter or the alerts changed. */
  refresh(): void {
    this.#waiting.whole = true
    this.#scheduleUpdate(100)
  }

  /** Picks a device: it gets a ring, is never in a cluster, and no filter hides it. */
  pick(id: string | undefined): void {
    if (id === this.#picked) return
    for (const one of [this.#picked, id]) {
      const tracked = one === undefined ? undefined : fleet.snapshot.get(one)
      if (tracked) this.#waiting.changed.set(tracked.device.id, tracked)
    }
    this.#picked = id
    this.#scheduleUpdate(0)
  }

  /** Sets whether nearby devices are put into clusters. */
  setClusters(on: boolean): void {
    if (on === this.#clusters) return
    this.#clusters = on
    this.#spider = null
    this.#scheduleUpdate(0)
  }

  remove(): void {
    this.#unlisten()
    this.#polar.remove()
    clearTimeout(this.#timer)
    clearTimeout(this.#frame)
    clearInterval(this.#ages)
    this.map.off('move', this.#moved)
    this.map.off('moveend', this.#movedEnd)
    this.map.off('click', this.#clicked)
    this.map.off('mousemove', this.#hovered)
  }

  #collect(change: Change): void {
    for (const [id, tracked] of change.changed) this.#waiting.changed.set(id, tracked)
    for (const [id, tracked] of change.removed) {
      this.#waiting.changed.delete(id)
      this.#waiting.removed.set(id, tracked)
    }
    this.#waiting.whole ||= change.whole
    this.#scheduleUpdate(gatherFor(fleet.snapshot.size))
  }

  #scheduleUpdate(delay: number): void {
    if (delay === 0 && this.#timer) {
      clearTimeout(this.#timer)
      this.#timer = 0
    }
    this.#timer ||= window.setTimeout(() => {
      this.#timer = 0
      this.#update()
    }, delay)
  }

  /** Applies the gathered changes, computes the scene in view and draws it. */
  #update(): void {
    const change = this.#waiting
    this.#waiting = noChange()
    if (change.whole) {
      this.#spots.clear()
      this.#movement.clear()
      for (const tracked of fleet.snapshot.values()) this.#put(tracked)
    } else {
      const shown = new Set(this.#scene.singles.map(({ spot }) => spot.key))
      const isCalm = shown.size <= mostMoving && !document.hidden
      for (const tracked of change.changed.values()) this.#put(tracked, isCalm && shown.has(tracked.key))
      for (const { key } of change.removed.values()) this.#spots.delete(key)
    }
    if (this.options.onpolar) this.options.onpolar([...this.#spots.values()].filter(isPolar).length)
    const view = this.#view()
    this.#level = levelOf(view.zoom)
    const spots = this.#isGlobe ? this.#withoutPolar() : this.#spots.values()
    this.#scene = sceneOf(spots, view)
    this.#draw()
  }

  get #isGlobe(): boolean {
    return this.map.getProjection()?.type === 'globe'
  }

  /** The devices that tiles can show. Those nearer to a pole are shown as markers on the globe. */
  #withoutPolar(): DeviceSpot[] {
    const [near, polar]: [DeviceSpot[], DeviceSpot[]] = [[], []]
    for (const spot of this.#spots.values()) (isPolar(spot) ? polar : near).push(spot)
    this.#polar.show(polar, this.#picked)
    return near
  }

  #put(tracked: Tracked, moves = false): void {
    const before = this.#spots.get(tracked.key)
    const severity = this.options.severityOf?.(tracked.device.id) ?? null
    const isShown = tracked.device.id === this.#picked || this.options.shows(tracked)
    const isDim = this.options.dims?.(tracked) ?? false
    const spot = isShown ? spotOf(tracked, statusOf(tracked), severity, isDim) : null
    if (!spot) {
      this.#spots.delete(tracked.key)
      return
    }
    this.#spots.set(tracked.key, spot)
    if (!moves || !before) return
    const pixels = spreadOf([before, spot], this.map.getZoom())
    // A jump across the screen is not a movement that anybody could follow.
    if (pixels > 1.5 && pixels < 700) this.#movement.begin(tracked.key, before, spot, performance.now())
  }

  #view(): View {
    const bounds = this.map.getBounds()
    const zoom = this.map.getZoom()
    // Half a screen more on every side, so that a short drag shows what is there.
    const { clientWidth, clientHeight } = this.map.getContainer()
    const margin = Math.max(clientWidth, clientHeight) / 2 / (worldSize * 2 ** zoom)
    const [west, east] = [bounds.getWest() / 360 + 0.5 - margin, bounds.getEast() / 360 + 0.5 + margin]
    const [north, south] = [toUnit(0, bounds.getNorth()).y - margin, toUnit(0, bounds.getSouth()).y + margin]
    const turn = Math.floor(west)
    // Seen from above a pole, a globe shows all longitudes.
    const isWhole = this.#isGlobe && zoom < wholeGlobe
    return {
      zoom,
      bounds: isWhole ? [-1, -9, 2, 9] : [west - turn, north, east - turn, south],
      clusters: this.#clusters,
      picked: this.#picked,
      spider: this.#spider
    }
  }

  /** Passes the features of the scene to the map; called again for each frame while devices move. */
  #draw(): void {
    const [target, legs] = [fleetSource, legSource].map((id) => this.map.getSource<GeoJSONSource>(id))
    // The style was replaced, and its sources went with it.
    if (!target || !legs) return
    // The map is still processing the previous scene; this one is drawn in a later frame.
    if (this.#busy) return this.#nextFrame()
    const [instant, now] = [performance.now(), Date.now()]
    const features = this.#scene.singles.map((placed) => {
      const moving = this.#movement.at(placed.spot.key, instant)
      return this.#features.device(moving ? { ...placed, ...moving } : placed, this.#picked, now)
    })
    for (const found of this.#scene.clusters) features.push(this.#features.cluster(found))
    this.#busy = true
    if (this.#scene.legs.length > 0 || this.#hasLegs) void legs.setData(legsOf(this.#scene))
    this.#hasLegs = this.#scene.legs.length > 0
    void target.setData({ type: 'FeatureCollection', features }).finally(() => (this.#busy = false))
    if (this.#movement.isMoving(instant)) this.#nextFrame()
  }

  #nextFrame(): void {
    this.#frame ||= window.setTimeout(() => {
      this.#frame = 0
      this.#draw()
    }, frameEvery)
  }

  readonly #moved = (): void => {
    const zoom = this.map.getZoom()
    if (this.#spider || levelOf(zoom) !== this.#level) this.#scheduleUpdate(60)
    else this.#scheduleUpdate(gatherFor(fleet.snapshot.size))
  }

  readonly #movedEnd = (): void => this.#scheduleUpdate(0)

  readonly #clicked = (event: MapMouseEvent): void => {
    const { onpick } = this.options
    if (!onpick || this.options.answers?.() === false) return
    const devices = [...new Set(this.#featuresAt(event, deviceLayers).map(({ device }) => String(device)))]
    const cluster = this.#featuresAt(event, [clusterLayer])[0]
    // Other listeners ignore a click whose default was prevented.
    if (devices.length > 0 || cluster) event.preventDefault()
    // The selected device does not hide a cluster below it.
    if (cluster && devices.every((id) => id === this.#picked)) this.#open(String(cluster.cluster))
    else if (devices.length === 1 && devices[0]) onpick(devices[0])
    else if (devices.length > 1) this.#separate(devices)
    else if (this.#spider) {
      this.#spider = null
      this.#scheduleUpdate(0)
    }
  }

  readonly #hovered = (event: MapMouseEvent): void => {
    if (!this.options.onpick || this.options.answers?.() === false || event.originalEvent.buttons > 0) return
    const isOver = this.#featuresAt(event, [...deviceLayers, clusterLayer]).length > 0
    const { style } = this.map.getCanvas()
    if (isOver) style.cursor = 'pointer'
    // A tool that points at the map has a cursor of its own.
    else if (style.cursor === 'pointer') style.cursor = ''
  }

  #featuresAt({ point }: MapMouseEvent, layers: string[]): Record<string, unknown>[] {
    if (!layers.every((layer) => this.map.getLayer(layer))) return []
    return this.map.queryRenderedFeatures(point, { layers }).map(({ properties }) => properties)
  }

  /** Devices that cover each other are treated as a cluster of them. */
  #separate(devices: string[]): void {
    const members = devices.flatMap((id) => {
      const tracked = fleet.snapshot.get(id)
      return tracked ? (this.#spots.get(tracked.key) ?? []) : []
    })
    const [first] = members
    if (first) this.#expandCluster({ id: '', members, x: first.x, y: first.y })
  }

  #open(id: string): void {
    const found = this.#scene.clusters.find((cluster) => cluster.id === id)
    if (found) this.#expandCluster(found)
  }

  /** Zooms until the members of a cluster are apart; those of one spot are drawn around it. */
  #expandCluster({ members, x, y }: Cluster<DeviceSpot>): void {
    const bounds = boundsOfPositions(members.flatMap(({ tracked }) => (tracked.location ? [tracked.location] : [])))
    const isOneSpot = spreadOf(members, deepest) < oneSpot || this.map.getZoom() >= deepest - 0.5
    if (isOneSpot || !bounds) {
      this.#spider = { keys: new Set(members.map(({ key }) => key)), x, y }
      this.#scheduleUpdate(0)
    } else this.map.fitBounds(bounds, { padding: 90, maxZoom: deepest })
  }
}

const legsOf = ({ legs }: Scene): GeoJSON.FeatureCollection => ({
  type: 'FeatureCollection',
  features: legs.map(([from, to]) => ({
    type: 'Feature',
    properties: {},
    geometry: { type: 'LineString', coordinates: [toLngLat(from.x, from.y), toLngLat(to.x, to.y)] }
  }))
})
