// Which raw messages are listed: part of the address, so that a filtered list can be kept and shared.
import type { Schemas } from '$lib/api/client'
import { messageResultValues } from '$lib/api/schema'
import { tIfKnown } from '$lib/i18n/index.svelte'

export type MessageResult = Schemas['MessageResult']
export const results: readonly MessageResult[] = messageResultValues

export interface MessageFilter {
  source?: string
  result?: MessageResult
  device?: string
}

export function filterOf(query: URLSearchParams): MessageFilter {
  const source = query.get('source')
  const result = results.find((one) => one === query.get('result'))
  const device = query.get('device')
  return { ...(source ? { source } : {}), ...(result ? { result } : {}), ...(device ? { device } : {}) }
}

/** The address of the list with some members of its filter changed. */
export function pathOf(filter: MessageFilter, change: Record<string, string | null>): string {
  const members = Object.entries({ ...filter, ...change }).filter((each): each is [string, string] => Boolean(each[1]))
  const query = new URLSearchParams(members).toString()
  return `/sources/messages${query ? `?${query}` : ''}`
}

/** How good each result is. */
const tones: Record<string, 'good' | 'idle' | 'warn' | 'bad'> = {
  decoded: 'good',
  duplicate: 'idle',
  unknownDevice: 'warn',
  unparsable: 'bad',
  expiredDevice: 'warn',
  test: 'idle'
}
export const toneOf = (result: MessageResult): 'good' | 'idle' | 'warn' | 'bad' => tones[result] ?? 'idle'

/** What a result is called; one that a newer server has added by its own name. */
export const resultName = (result: MessageResult): string => tIfKnown(`sources.result.${result}`) ?? result
