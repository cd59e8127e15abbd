// Age of an instant, as part of a sentence.
import { age } from '$lib/format/format'
import { t } from '$lib/i18n/index.svelte'

/** A measured value, with its age where a newer one was due. */
export const valueThen = (value: string, outdated: boolean, instant: string, now: number): string =>
  outdated ? `${value}, ${ago(instant, now)}` : value

export function ago(instant: string | number, now: number): string {
  const since = age(instant, now)
  return since === t('common.now') ? since : t('device.ago', { age: since })
}
