// The geofences of the account, loaded when a page first needs them.
import { api, ok, type Schemas } from '$lib/api/client'
import { allPages } from '$lib/api/pages'
import type { Fence } from './drawLayer'
import { byName } from '$lib/format/sort'
import { geometryOf, shapeOf, type Shape } from './drawShape'

export type Geofence = Schemas['Geofence']

class Fences {
  all: Geofence[] = $state.raw([])
  loaded = $state(false)

  async load(): Promise<void> {
    const all = await allPages(
      (query) => ok(api.GET('/api/geofences', { params: { query } })),
      (page) => page.geofences
    )
    this.all = all.sort(order)
    this.loaded = true
  }

  get(id: string): Geofence | undefined {
    return this.all.find((fence) => fence.id === id)
  }

  /** Stores a geofence from an API response. */
  put(fence: Geofence): void {
    this.all = [...this.all.filter(({ id }) => id !== fence.id), fence].sort(order)
  }

  remove(id: string): void {
    this.all = this.all.filter((fence) => fence.id !== id)
  }
}

const order = (a: Geofence, b: Geofence): number => byName(a.properties, b.properties)

export const fences = new Fences()

/** A geofence as the map shows it. */
export function onMap({ id, geometry, properties }: Geofence): Fence[] {
  const shape = shapeOf(geometry, properties)
  return shape ? [{ id, name: properties.name, shape }] : []
}

/** A geofence as the API accepts it. */
export function bodyOf(name: string, description: string | null, shape: Shape): Schemas['GeofenceInput'] {
  const { geometry, radius, width } = geometryOf(shape)
  return { type: 'Feature', geometry, properties: { name: name.trim(), description, radius, width } }
}
