// Drawing and changing one shape by hand. Terra Draw accepts only longitudes up to 180 degrees, so it works on a world
// rotated until the shape is in its centre: shapes across the antimeridian are drawn like any other.
import type { Map } from 'maplibre-gl'
import {
  TerraDraw,
  TerraDrawCircleMode,
  TerraDrawLineStringMode,
  TerraDrawPolygonMode,
  TerraDrawSelectMode,
  type GeoJSONStoreFeatures,
  type TerraDrawChanges,
  type TerraDrawStylingFunction
} from 'terra-draw'
import { TerraDrawMapLibreGLAdapter } from 'terra-draw-maplibre-gl-adapter'
import { boundsOf, circleRing, destination, middle, open, type DrawnKind, type Position, type Shape } from './drawShape'
import { distanceBetween, unwrap } from '$lib/map/geometry/geodesy'

interface LngLat {
  lng: number
  lat: number
}
const decimals = 9
const rounded = (value: number): number => Number(value.toFixed(decimals))

/** The map with all longitudes shifted by some degrees. */
class TurnedAdapter extends TerraDrawMapLibreGLAdapter<Map> {
  turn = 0

  override project(lng: number, lat: number): { x: number; y: number } {
    return super.project(lng + this.turn, lat)
  }
  /** Also used to find the positions of events. */
  override unproject(x: number, y: number): LngLat {
    const { lng, lat } = super.unproject(x, y)
    return { lng: lng - this.turn, lat }
  }
  override render(changes: TerraDrawChanges, styling: TerraDrawStylingFunction): void {
    const back = (features: GeoJSONStoreFeatures[]): GeoJSONStoreFeatures[] =>
      features.map((feature) => ({ ...feature, geometry: turned(feature.geometry, this.turn) }))
    const { created, updated, unchanged, deletedIds } = changes
    super.render({ created: back(created), updated: back(updated), unchanged: back(unchanged), deletedIds }, styling)
  }
}

type StoreGeometry = GeoJSONStoreFeatures['geometry']

function turned(geometry: StoreGeometry, by: number): StoreGeometry {
  const turn = ([longitude = 0, latitude = 0]: GeoJSON.Position): GeoJSON.Position => [longitude + by, latitude]
  if (geometry.type === 'Point') return { ...geometry, coordinates: turn(geometry.coordinates) }
  if (geometry.type === 'LineString') return { ...geometry, coordinates: geometry.coordinates.map(turn) }
  return { ...geometry, coordinates: geometry.coordinates.map((ring) => ring.map(turn)) }
}

interface Options {
  dark: boolean
  /** The shape as it is drawn or changed. */
  onchange: (shape: Shape, done: boolean) => void
}

/** Number of corners by which a circle is drawn while it is edited. */
const ringCorners = 64
/** A circle drawn smaller than this is treated as a mistake. */
const leastPx = 8
/** The radius that such a circle gets instead. The user can then drag it. */
const usualPx = 60

const modeOf: Record<DrawnKind, string> = { polygon: 'polygon', circle: 'circle', corridor: 'linestring' }

export class DrawTool {
  readonly #adapter: TurnedAdapter
  readonly #draw: TerraDraw
  #id: string | number | undefined
  #kind: DrawnKind = 'polygon'
  #width = 0
  #radius = 0
  #center: Position = [0, 0]
  /** The last touched point, in pixels. Between two taps no pointer moves, so the drawing tool misses the second. */
  #touched = { x: 0, y: 0 }

  constructor(
    private readonly map: Map,
    private readonly options: Options
  ) {
    this.#adapter = new TurnedAdapter({ map, coordinatePrecision: decimals })
    this.#draw = new TerraDraw({ adapter: this.#adapter, modes: modes(options.dark, () => this.#kind === 'circle') })
    this.#draw.start()
    map.getCanvas().addEventListener('pointerup', this.#noteTouch)
    this.#draw.on('finish', (id, { action }) => this.#finished(id, action))
    this.#draw.on('change', (ids, type, context) => {
      const byHand = !context || !('origin' in context)
      if (byHand && type === 'update' && this.#id !== undefined && ids.includes(this.#id)) this.#notify(false)
    })
  }

  /** Starts the drawing of a new shape; a corridor gets this width. */
  begin(kind: DrawnKind, width: number): void {
    this.#clear()
    this.#adapter.turn = Math.round(this.map.getCenter().lng)
    this.#kind = kind
    this.#width = width
    this.#draw.setMode(modeOf[kind])
  }

  /** Shows a shape so that it can be moved and its corners dragged. */
  edit(shape: Shape): void {
    if (shape.kind === 'area') return
    this.#clear()
    const [west, , east] = boundsOf(shape)
    // The visible copy of the world: the map's longitudes continue past 180.
    const seen = Math.round((this.map.getCenter().lng - (west + east) / 2) / 360) * 360
    this.#adapter.turn = Math.round((west + east) / 2) + seen
    this.#kind = shape.kind
    if (shape.kind === 'corridor') this.#width = shape.width
    if (shape.kind === 'circle') {
      this.#radius = shape.radius
      this.#center = [shape.center[0] + seen, shape.center[1]]
    }
    const id = this.#draw.getFeatureId()
    const geometry = this.#geometryOf(shape, seen)
    const [added] = this.#draw.addFeatures([
      { type: 'Feature', id, geometry, properties: { mode: modeOf[shape.kind] } }
    ])
    this.#draw.setMode('select')
    if (!added?.valid) return
    this.#id = id
    this.#draw.selectFeature(id)
  }

  stop(): void {
    this.map.getCanvas().removeEventListener('pointerup', this.#noteTouch)
    try {
      this.#draw.stop()
    } catch {
      // The style was replaced in the meantime, and its layers went with it.
    }
  }

  readonly #noteTouch = (event: PointerEvent): void => {
    const { left, top } = this.map.getCanvas().getBoundingClientRect()
    this.#touched = { x: event.clientX - left, y: event.clientY - top }
  }

  /** The radius of a new circle, in metres. After two taps the drawn radius is near 0: the second tap then sets it. */
  #radiusAtPointer(center: Position, radius: number): number {
    const middle = this.map.project(center)
    const end = this.map.project(destination(center, radius, 90))
    if (Math.hypot(end.x - middle.x, end.y - middle.y) >= leastPx) return radius
    const { x, y } = this.#touched
    const far = Math.hypot(x - middle.x, y - middle.y) >= leastPx
    const { lng, lat } = this.map.unproject(far ? [x, y] : [middle.x + usualPx, middle.y])
    return distanceBetween(center, [lng, lat])
  }

  #clear(): void {
    this.#id = undefined
    this.#draw.setMode('select')
    this.#draw.clear()
  }

  #geometryOf(shape: Exclude<Shape, { kind: 'area' }>, seen: number): StoreGeometry {
    const turn = ([longitude, latitude]: Position): Position => [
      rounded(longitude + seen - this.#adapter.turn),
      rounded(latitude)
    ]
    const line = shape.kind === 'circle' ? circleRing(shape.center, shape.radius, ringCorners) : unwrap(shape.positions)
    const positions = line.map(turn)
    if (shape.kind === 'corridor') return { type: 'LineString', coordinates: positions }
    return {
      type: 'Polygon',
      coordinates: [shape.kind === 'circle' ? positions : [...positions, ...positions.slice(0, 1)]]
    }
  }

  #finished(id: string | number, action: string): void {
    if (action === 'draw') {
      this.#id = id
      this.#notify(true, undefined, true)
    } else if (this.#id !== undefined) {
      // Dragging leaves an inexact circle, so it is rebuilt: with its radius when moved, with its centre when resized.
      this.#notify(true, action === 'dragFeature' ? 'radius' : action === 'dragCoordinateResize' ? 'center' : undefined)
    }
  }

  #notify(done: boolean, keeps?: 'radius' | 'center', isNew = false): void {
    const feature = this.#id === undefined ? undefined : this.#draw.getSnapshotFeature(this.#id)
    if (!feature) return
    const shape = this.#shapeOf(feature.geometry, keeps)
    if (!shape) return
    if (shape.kind === 'circle' && isNew)
      shape.radius = Math.max(1, Math.round(this.#radiusAtPointer(shape.center, shape.radius)))
    if (shape.kind === 'circle' && done) this.#radius = shape.radius
    this.options.onchange(shape, done)
    if (done) queueMicrotask(() => this.edit(shape))
  }

  #shapeOf(geometry: StoreGeometry, keeps: 'radius' | 'center' | undefined): Shape | undefined {
    const back = ([longitude = 0, latitude = 0]: GeoJSON.Position): Position => [
      longitude + this.#adapter.turn,
      latitude
    ]
    if (geometry.type === 'LineString') {
      return { kind: 'corridor', positions: geometry.coordinates.map(back), width: this.#width }
    }
    if (geometry.type !== 'Polygon') return undefined
    const ring = open((geometry.coordinates[0] ?? []).map(back))
    if (this.#kind !== 'circle') return { kind: 'polygon', positions: ring }
    const center = keeps === 'center' ? this.#center : middle(ring)
    const corner = ring[0]
    const radius = keeps === 'radius' || !corner ? this.#radius : distanceBetween(center, corner)
    return { kind: 'circle', center, radius: Math.max(1, Math.round(radius)) }
  }
}

/** Layers of the drawing tool, in the colours of the theme. */
function modes(dark: boolean, isCircle: () => boolean): ConstructorParameters<typeof TerraDraw>[0]['modes'] {
  const colour = dark ? '#ff9d5c' : '#c2410c'
  const ground = dark ? '#0d1620' : '#ffffff'
  const fill = { fillColor: colour, fillOpacity: 0.2, outlineColor: colour, outlineWidth: 2 } as const
  const point = {
    closingPointColor: colour,
    closingPointWidth: 6,
    closingPointOutlineColor: ground,
    closingPointOutlineWidth: 2
  } as const
  // All corners of a circle can be dragged, but only four are shown.
  const seen =
    (size: number) =>
    (feature: GeoJSONStoreFeatures): number =>
      isCircle() && Number(feature.properties.index) % (ringCorners / 4) !== 0 ? 0 : size
  const corners = { draggable: true, midpoints: true, deletable: true }
  return [
    new TerraDrawPolygonMode({ styles: { ...fill, ...point } }),
    new TerraDrawCircleMode({ projection: 'globe', styles: fill }),
    new TerraDrawLineStringMode({ styles: { lineStringColor: colour, lineStringWidth: 3, ...point } }),
    new TerraDrawSelectMode({
      allowManualDeselection: false,
      keyEvents: null,
      flags: {
        polygon: { feature: { draggable: true, coordinates: corners } },
        circle: { feature: { draggable: true, coordinates: { resizable: 'center-fixed' } } },
        linestring: { feature: { draggable: true, coordinates: corners } }
      },
      styles: {
        selectedPolygonColor: colour,
        selectedPolygonFillOpacity: 0.2,
        selectedPolygonOutlineColor: colour,
        selectedPolygonOutlineWidth: 2,
        selectedLineStringColor: colour,
        selectedLineStringWidth: 3,
        selectionPointColor: colour,
        selectionPointOutlineColor: ground,
        selectionPointOutlineWidth: seen(2),
        selectionPointWidth: seen(6),
        midPointColor: ground,
        midPointOutlineColor: colour,
        midPointOutlineWidth: 2,
        midPointWidth: 4
      }
    })
  ]
}
