// Every word the console shows comes from the message files beside this one, one folder a language, one file an area.
import { preferences } from '../preferences.svelte'

type Messages = Record<string, string>
type Files = Record<string, { default: Messages }>

const files: Record<string, Files> = {
  en: import.meta.glob('./en/*.json', { eager: true }),
  es: import.meta.glob('./es/*.json', { eager: true })
}

/** All messages of a language, by `area.key`. */
export function messagesOf(language: string): Messages {
  const all: Messages = {}
  for (const [path, { default: messages }] of Object.entries(files[language] ?? {})) {
    const area = path.replace(/^.*\/(.*)\.json$/, '$1')
    for (const [key, text] of Object.entries(messages)) all[`${area}.${key}`] = text
  }
  return all
}

const tables: Record<string, Messages> = { en: messagesOf('en'), es: messagesOf('es') }

/**
 * The message of a key in the user's language, with `{name}` filled in. With a `count`, `key_one` and `key_other` are
 * chosen between as the language does.
 */
export function t(key: string, values: Record<string, string | number> = {}): string {
  const language = preferences.language
  const text = find(language, key, values.count) ?? find('en', key, values.count) ?? key
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name]
    if (value === undefined) return whole
    return typeof value === 'number' ? value.toLocaleString(language) : value
  })
}

function find(language: string, key: string, count: string | number | undefined): string | undefined {
  const table = tables[language] ?? {}
  if (typeof count === 'number') {
    const form = table[`${key}_${new Intl.PluralRules(language).select(count)}`] ?? table[`${key}_other`]
    if (form !== undefined) return form
  }
  return table[key]
}

/** Whether there is a message of this key, for names the server may add to. */
export const has = (key: string): boolean => tables.en?.[key] !== undefined
