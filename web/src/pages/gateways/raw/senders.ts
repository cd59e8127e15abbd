// The devices that report in a raw message.
import type { RawMessage } from '$lib/pages/gateways/gateways.svelte'

type Senders = Pick<RawMessage, 'deviceId' | 'deviceIds' | 'identifier'>

/** Maximum number of devices that an entry of the list names. */
const namedMax = 3

/** IDs of the devices in a message; in a list of messages, at most the first 20. */
export const devicesOf = ({ deviceId, deviceIds }: Senders): string[] =>
  deviceIds.length === 0 && deviceId ? [deviceId] : deviceIds

/** The devices in one line, or the identifier if none is known. */
export function sendersText(
  message: Senders,
  nameOf: (id: string) => string | undefined,
  andOthers: (names: string) => string
): string {
  const ids = devicesOf(message)
  if (ids.length === 0) return message.identifier ?? '–'
  const names = ids.slice(0, namedMax).map((id) => nameOf(id) ?? id)
  const text = names.join(', ')
  return ids.length === names.length ? text : andOthers(text)
}
