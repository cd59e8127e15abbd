// A geofence that is being created or changed: the state that the form and the map share until it is saved.
import { Problem, api, ok, okTagged } from '$lib/api/client'
import { shapeOf, type DrawnKind, type Shape } from '$lib/map/draw/drawShape'
import { bodyOf, fences, type Geofence } from '$lib/map/draw/geofences.svelte'

export const usualRadius = 500
export const usualWidth = 1000

export class Draft {
  name = $state('')
  description = $state('')
  kind: DrawnKind | 'area' = $state('polygon')
  shape: Shape | null = $state.raw(null)
  /** The side that changed the shape last; the other side follows. */
  from: 'map' | 'form' = $state('form')
  /** Grows when the drawing must be restarted. */
  round = $state(0)
  fields: Record<string, string> = $state({})
  readonly id: string | null
  #tag: string | null

  constructor(source: { fence: Geofence; tag: string | null } | { kind: DrawnKind }) {
    if ('kind' in source) {
      this.id = null
      this.#tag = null
      this.kind = source.kind
      return
    }
    const { fence, tag } = source
    this.id = fence.id
    this.#tag = tag
    this.name = fence.properties.name
    this.description = fence.properties.description ?? ''
    this.shape = shapeOf(fence.geometry, fence.properties)
    this.kind = this.shape?.kind ?? 'area'
  }

  set(shape: Shape, from: 'map' | 'form'): void {
    this.shape = shape
    this.kind = shape.kind
    this.from = from
  }

  /** Restarts the drawing, perhaps with another kind of shape. */
  restart(kind: DrawnKind): void {
    this.shape = null
    this.kind = kind
    this.from = 'form'
    this.round++
  }

  get isReady(): boolean {
    const { shape } = this
    if (!shape) return false
    if (shape.kind === 'polygon') return shape.positions.length >= 3
    if (shape.kind === 'corridor') return shape.positions.length >= 2 && shape.width > 0
    return shape.kind === 'area' || shape.radius > 0
  }

  /** Saves the geofence. Errors of fields are kept for the form; others are thrown. */
  async save(): Promise<Geofence | null> {
    if (!this.shape) return null
    const body = bodyOf(this.name, this.description.trim() || null, this.shape)
    this.fields = {}
    try {
      const saved = this.id
        ? await ok(
            api.PUT('/api/geofences/{geofenceId}', {
              params: { path: { geofenceId: this.id }, header: this.#tag ? { 'If-Match': this.#tag } : {} },
              body
            })
          )
        : await ok(api.POST('/api/geofences', { body }))
      fences.put(saved)
      return saved
    } catch (error) {
      if (!(error instanceof Problem) || Object.keys(error.fields).length === 0) throw error
      this.fields = error.fields
      return null
    }
  }

  /** The API's error about the shape. */
  get shapeProblem(): string | undefined {
    return Object.entries(this.fields).find(([field]) => field.startsWith('geometry'))?.[1]
  }
}

/** A copy of a geofence, to be changed. */
export async function draftOf(id: string): Promise<Draft> {
  const { data, tag } = await okTagged(api.GET('/api/geofences/{geofenceId}', { params: { path: { geofenceId: id } } }))
  return new Draft({ fence: data, tag })
}
