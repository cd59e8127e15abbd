// Decoding without storing anything: pasted frames, a pasted request, or a stored message with other settings.
import { api, ok, type Schemas } from '$lib/api/client'

export type DecodedMessage = Schemas['DecodedMessage']

export type DecodeBody = Omit<Schemas['DecodeInput'], 'session'> & { session?: boolean }

export const decode = async (wanted: DecodeBody): Promise<DecodedMessage[]> =>
  (await ok(api.POST('/api/gateways/decode', { body: { session: false, ...wanted } }))).messages
