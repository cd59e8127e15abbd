// What the console shows of a channel. Which channels there are is in the API; a new one needs its texts only.
import type { Schemas } from '$lib/api/client'

export type Channel = Schemas['Channel']

const telephones: readonly Channel[] = ['sms', 'call', 'whatsapp']

/** Whether addresses of a channel are telephone numbers. */
export const isTelephone = (channel: Channel): boolean => telephones.includes(channel)

/** The icon of a channel. */
export function channelIcon(channel: Channel): 'phone' | 'mail' | 'bell' {
  if (isTelephone(channel)) return 'phone'
  return channel === 'email' ? 'mail' : 'bell'
}

/** The channels to offer: e-mail and SMS, those that the server is set up for, and the one that is in use. */
export function offeredChannels(facts: Schemas['ConsoleChannels'] | null, used: Channel): Channel[] {
  const all: Channel[] = ['email', 'sms', ...(facts?.others ?? []).map(({ channel }) => channel)]
  return all.includes(used) ? all : [...all, used]
}

/** Whether the server is known not to be set up for a channel. */
export function isOff(facts: Schemas['ConsoleChannels'] | null, channel: Channel): boolean {
  if (!facts) return false
  if (channel === 'email' || channel === 'sms' || channel === 'push') return !facts[channel]
  return !facts.others.some((other) => other.channel === channel)
}
