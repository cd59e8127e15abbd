// The gateways of the account, the newest messages of each feed, and unknown devices that sent messages.
import { api, ok, type Schemas } from '$lib/api/client'
import type { Feed, FeedName } from '$lib/gateways/feeds'

/** The health of a gateway; older servers do not send it. */
export interface Health {
  lastMessage?: string | null
  messagesLastDay: number
  intervalSeconds?: number | null
  lateSince?: string | null
  errors: number
  refused: number
  lastError?: string | null
  lastErrorAt?: string | null
  backlogSeconds?: number | null
  nextPoll?: string | null
}
export type Gateway = Schemas['Gateway'] & { health?: Health }
export type RawMessage = Schemas['RawMessage']
export type HeardDevice = Schemas['HeardDevice']

export const loadGateways = async (): Promise<Gateway[]> => (await ok(api.GET('/api/gateways'))).gateways

export interface Traffic {
  last: RawMessage | undefined
  /** Of the newest messages: the number counted, and the number that could not be decoded. */
  counted: number
  failed: number
  /** Whether there are older messages than the counted ones. */
  more: boolean
}

const sampleSize = 100

/** The newest messages of a feed; one page is enough to see whether the feed works. */
export async function trafficOf(source: string): Promise<Traffic> {
  const query = { source, limit: sampleSize }
  const { rawMessages, nextCursor } = await ok(api.GET('/api/rawMessages', { params: { query } }))
  const failed = rawMessages.filter(({ result }) => result === 'unparsable' || result === 'unknownDevice').length
  return { last: rawMessages[0], counted: rawMessages.length, failed, more: Boolean(nextCursor) }
}

export interface Wanted {
  feed: FeedName
  name: string
  deviceId: string | null
  options: Record<string, unknown>
}

/** Creates a gateway. Its address contains a secret, so only this answer has it. */
export const createGateway = ({ feed, name, deviceId, options }: Wanted): Promise<Gateway> =>
  ok(api.POST('/api/gateways', { body: { feed, name: name.trim() || null, deviceId, options } }))

/** Fields of the form of a gateway: errors of a setting are shown at its field, others at the JSON. */
export const fieldsOfGateway = (feed: Feed): string[] => [
  'feed',
  'name',
  'deviceId',
  ...feed.settings.map(({ name }) => `options.${name}`),
  'options'
]

export const readGateway = (gatewayId: string) =>
  api.GET('/api/gateways/{gatewayId}', { params: { path: { gatewayId } } })

export function replaceGateway(gatewayId: string, tag: string | null, wanted: Omit<Wanted, 'feed'>): Promise<Gateway> {
  const { name, deviceId, options } = wanted
  const params = { path: { gatewayId }, header: tag ? { 'If-Match': tag } : {} }
  return ok(api.PUT('/api/gateways/{gatewayId}', { params, body: { name: name.trim() || null, deviceId, options } }))
}

/** Renews the address of a gateway, which only this answer contains. */
export const renewAddress = (gatewayId: string): Promise<Gateway> =>
  ok(api.POST('/api/gateways/{gatewayId}/renewAddress', { params: { path: { gatewayId } } }))

/** Deletes a gateway. If it has raw messages, the server refuses unless they are kept. */
export const deleteGateway = (gatewayId: string, keepsMessages: boolean): Promise<unknown> =>
  ok(
    api.DELETE('/api/gateways/{gatewayId}', {
      params: { path: { gatewayId }, query: keepsMessages ? { messages: 'keep' } : {} }
    })
  )

export const loadHeard = async (): Promise<HeardDevice[]> => (await ok(api.GET('/api/heardDevices'))).heardDevices
