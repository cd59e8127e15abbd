// The three places where it can be set whom alerts go to, behind one face.
import type { Schemas } from '../../../api/client'
import { raw } from '../../../api/raw'
import type { RoutedWebhook } from './routing'

export type Place = { kind: 'account' } | { kind: 'group' | 'device'; id: string }
export type Routing = Schemas['AlertRouting'] & { webhooks?: RoutedWebhook[] }
export type Input = Schemas['AlertRoutingInput'] & { webhooks?: RoutedWebhook[] }

const pathOf = (place: Place): string =>
  place.kind === 'account' ? '/api/account/alertRouting' : `/api/${place.kind}s/${encodeURIComponent(place.id)}/alertRouting`

export const loadRouting = (place: Place): Promise<{ data: Routing; tag: string | null }> => raw('GET', pathOf(place))

/** Changes what is given and leaves alone what this console does not know. */
export async function saveRouting(place: Place, tag: string | null, body: Input): Promise<void> {
  await raw('PATCH', pathOf(place), { body, tag })
}

/** Sets nothing here, so that the next place decides. */
export async function clearRouting(place: Place): Promise<void> {
  await raw('DELETE', pathOf(place))
}
