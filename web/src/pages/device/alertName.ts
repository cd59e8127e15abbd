// The name of an alert as people read it. Senders may use any name, so what is not known is only pulled apart.
import { has, t } from '../../i18n/index.svelte'
import { apart } from './apart'

export function alertTitle(name: string): string {
  const key = `alerts.name.${name}`
  return has(key) ? t(key) : apart(name)
}
