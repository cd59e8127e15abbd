// The three places where it can be set whom alerts go to, behind one face.
import { api, ok, okTagged, type Schemas } from '../../../api/client'

export type Place = { kind: 'account' } | { kind: 'group' | 'device'; id: string }
type Routing = Schemas['AlertRouting']
type Input = Schemas['AlertRoutingInput']

export function loadRouting(place: Place): Promise<{ data: Routing; tag: string | null }> {
  if (place.kind === 'account') return okTagged(api.GET('/api/account/alertRouting'))
  if (place.kind === 'group') {
    return okTagged(api.GET('/api/groups/{groupId}/alertRouting', { params: { path: { groupId: place.id } } }))
  }
  return okTagged(api.GET('/api/devices/{deviceId}/alertRouting', { params: { path: { deviceId: place.id } } }))
}

export async function saveRouting(place: Place, tag: string | null, body: Input): Promise<void> {
  const header = tag ? { 'If-Match': tag } : {}
  if (place.kind === 'account') await ok(api.PUT('/api/account/alertRouting', { params: { header }, body }))
  else if (place.kind === 'group') {
    await ok(api.PUT('/api/groups/{groupId}/alertRouting', { params: { header, path: { groupId: place.id } }, body }))
  } else {
    await ok(api.PUT('/api/devices/{deviceId}/alertRouting', { params: { header, path: { deviceId: place.id } }, body }))
  }
}

/** Sets nothing here, so that the next place decides. */
export async function clearRouting(place: Place): Promise<void> {
  if (place.kind === 'account') await ok(api.DELETE('/api/account/alertRouting'))
  else if (place.kind === 'group') {
    await ok(api.DELETE('/api/groups/{groupId}/alertRouting', { params: { path: { groupId: place.id } } }))
  } else await ok(api.DELETE('/api/devices/{deviceId}/alertRouting', { params: { path: { deviceId: place.id } } }))
}
