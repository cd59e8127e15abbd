// The three places where it can be set whom alerts go to, behind one face.
import { api, ok, okTagged, type Schemas } from '../../../api/client'

export type Place = { kind: 'account' } | { kind: 'group' | 'device'; id: string }
export type Routing = Schemas['AlertRouting']
export type Input = Schemas['AlertRoutingPatch']

const ofGroup = '/api/groups/{groupId}/alertRouting'
const ofDevice = '/api/devices/{deviceId}/alertRouting'
const ofAccount = '/api/account/alertRouting'

export function loadRouting(place: Place): Promise<{ data: Routing; tag: string | null }> {
  if (place.kind === 'account') return okTagged(api.GET(ofAccount))
  if (place.kind === 'group') return okTagged(api.GET(ofGroup, { params: { path: { groupId: place.id } } }))
  return okTagged(api.GET(ofDevice, { params: { path: { deviceId: place.id } } }))
}

/** Changes what is given and leaves the rest alone. */
export async function saveRouting(place: Place, tag: string | null, body: Input): Promise<void> {
  const headers = tag ? { 'If-Match': tag } : {}
  if (place.kind === 'account') await ok(api.PATCH(ofAccount, { body, headers }))
  else if (place.kind === 'group')
    await ok(api.PATCH(ofGroup, { params: { path: { groupId: place.id } }, body, headers }))
  else await ok(api.PATCH(ofDevice, { params: { path: { deviceId: place.id } }, body, headers }))
}

/** Sets nothing here, so that the next place decides. */
export async function clearRouting(place: Place): Promise<void> {
  if (place.kind === 'account') await ok(api.DELETE(ofAccount))
  else if (place.kind === 'group') await ok(api.DELETE(ofGroup, { params: { path: { groupId: place.id } } }))
  else await ok(api.DELETE(ofDevice, { params: { path: { deviceId: place.id } } }))
}
