// How long ago something was, as part of a sentence.
import { age } from '$lib/format/format'
import { t } from '$lib/i18n/index.svelte'

export function ago(instant: string | number, now: number): string {
  const since = age(instant, now)
  return since === t('common.now') ? since : t('device.ago', { age: since })
}
