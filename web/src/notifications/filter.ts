// The filter of the notifications page, converted from and to the URL.
import type { Schemas } from '$lib/api/client'
import { channelValues, notificationStateValues } from '$lib/api/schema'

type State = Schemas['NotificationState']
export interface Filter {
  state?: State
  channel?: Schemas['Channel']
  device?: string
}

export const states = notificationStateValues

/** The filter in an address; unknown values are ignored. */
export function filterOf(query: URLSearchParams): Filter {
  const state = states.find((one) => one === query.get('state'))
  const channel = channelValues.find((one) => one === query.get('channel'))
  const device = query.get('device')
  return { ...(state ? { state } : {}), ...(channel ? { channel } : {}), ...(device ? { device } : {}) }
}

/** The address with some parameters changed; null removes one. */
export function pathOf(query: URLSearchParams, change: Record<string, string | null>): string {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(change)) {
    if (value) next.set(name, value)
    else next.delete(name)
  }
  return next.size > 0 ? `/notifications?${next.toString()}` : '/notifications'
}
