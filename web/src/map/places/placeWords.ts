// The name of a place for lists of found places.
import type { NamedPlace } from './gazetteer'

/** The name of a place with its country. */
export function nameOf({ name, country }: NamedPlace, language: string): string {
  if (!country) return name
  return `${name}, ${new Intl.DisplayNames(language, { type: 'region' }).of(country) ?? country}`
}
