// The filter of raw messages: part of the URL, so that a filtered list can be bookmarked and shared.
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

/** Severity of each result, for its colour. */
const tones: Record<string, 'good' | 'idle' | 'warn' | 'bad'> = {
  decoded: 'good',
  duplicate: 'idle',
  unknownDevice: 'warn',
  unparsable: 'bad',
  expiredDevice: 'warn',
  test: 'idle'
}
export const toneOf = (result: MessageResult): 'good' | 'idle' | 'warn' | 'bad' => tones[result] ?? 'idle'

/** The label of a result; an unknown result of a newer server is shown by its name. */
export const resultName = (result: MessageResult): string => tIfKnown(`sources.result.${result}`) ?? result
