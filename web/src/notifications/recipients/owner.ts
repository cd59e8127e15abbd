// The same operations for alert recipients of a device, a group or the account.
import { api, ok, okTagged, type Schemas } from '$lib/api/client'

export type Owner = { kind: 'account' } | { kind: 'group' | 'device'; id: string }
export type Routing = Schemas['AlertRouting']
export type Input = Schemas['AlertRoutingPatch']

const ofGroup = '/api/groups/{groupId}/alertRouting'
const ofDevice = '/api/devices/{deviceId}/alertRouting'
const ofAccount = '/api/account/alertRouting'

export function loadRouting(owner: Owner): Promise<{ data: Routing; tag: string | null }> {
  if (owner.kind === 'account') return okTagged(api.GET(ofAccount))
  if (owner.kind === 'group') return okTagged(api.GET(ofGroup, { params: { path: { groupId: owner.id } } }))
  return okTagged(api.GET(ofDevice, { params: { path: { deviceId: owner.id } } }))
}

/** Changes only the given members. */
export async function saveRouting(owner: Owner, tag: string | null, body: Input): Promise<void> {
  const headers = tag ? { 'If-Match': tag } : {}
  if (owner.kind === 'account') await ok(api.PATCH(ofAccount, { body, headers }))
  else if (owner.kind === 'group')
    await ok(api.PATCH(ofGroup, { params: { path: { groupId: owner.id } }, body, headers }))
  else await ok(api.PATCH(ofDevice, { params: { path: { deviceId: owner.id } }, body, headers }))
}

/** Removes the setting, so that the next owner applies: the groups of a device, then the account. */
export async function clearRouting(owner: Owner): Promise<void> {
  if (owner.kind === 'account') await ok(api.DELETE(ofAccount))
  else if (owner.kind === 'group') await ok(api.DELETE(ofGroup, { params: { path: { groupId: owner.id } } }))
  else await ok(api.DELETE(ofDevice, { params: { path: { deviceId: owner.id } } }))
}
