// Converts a gateway between form values and the API: fields for common settings, and JSON for the others.
import type { Feed } from './feeds'
import { optionsOf } from './feeds'

export interface GatewayForm {
  name: string
  deviceId: string | null
  /** The values of the settings, by name. */
  settings: Record<string, string>
  /** The other settings as JSON. */
  more: string
}

interface Saved {
  name?: string | null
  deviceId?: string | null
  options: Record<string, unknown>
}

export const emptyGateway = (): GatewayForm => ({ name: '', deviceId: null, settings: {}, more: '' })

/** The text of a setting in its field; a value that does not fit a field is left in the JSON. */
function textOf(value: unknown, isList: boolean | undefined): string | undefined {
  if (isList) return Array.isArray(value) ? value.join(', ') : undefined
  return typeof value === 'string' ? value : undefined
}

/** The form of a saved gateway. Secrets are null in the JSON: a null keeps the secret, a missing member removes it. */
export function gatewayFormOf(feed: Feed, { name, deviceId, options }: Saved): GatewayForm {
  const fields = feed.settings.flatMap(({ name, isList }): [string, string][] => {
    const text = textOf(options[name], isList)
    return text === undefined ? [] : [[name, text]]
  })
  const settings = Object.fromEntries(fields)
  const rest = Object.entries(options).filter(([name]) => !(name in settings))
  const more = rest.length > 0 ? JSON.stringify(Object.fromEntries(rest), null, 2) : ''
  return { name: name ?? '', deviceId: deviceId ?? null, settings, more }
}

/** The options of a form; a field overrides the JSON. */
export const gatewayOptions = (
  feed: Feed,
  form: GatewayForm,
  more: Record<string, unknown> | null
): Record<string, unknown> => ({ ...more, ...optionsOf(feed, form.settings) })
