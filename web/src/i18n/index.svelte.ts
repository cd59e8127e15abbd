// Every text the console shows comes from the message files beside this one: a folder for each language, a file for
// each area. Keys are typed by the English files, so that a wrong key and a missing translation are type errors.
import { preferences } from '$lib/access/preferences.svelte'
import en from './en'
import es from './es'

type Areas = typeof en
type Messages<L extends Record<string, object>> = {
  [A in keyof L & string]: `${A}.${keyof L[A] & string}`
}[keyof L & string]

/** A key of a message in the files, such as `device.days_one`. */
export type MessageName = Messages<Areas>
type Singular<K> = K extends `${infer Base}_one` ? Base : never
type Plural<K> = K extends `${infer Base}_other` ? Base : never

/** A key without its plural form, as `t` takes it: `device.days`. */
export type MessageKey =
  Exclude<MessageName, `${string}_one` | `${string}_other`> | (Singular<MessageName> & Plural<MessageName>)

/** The keys of an area that begin with a prefix, without it: `MessagesUnder<'rules.kind'>`. */
export type MessagesUnder<Prefix extends string> = MessageKey extends infer K
  ? K extends `${Prefix}.${infer Rest}`
    ? Rest
    : never
  : never

/** Fails to compile, with the keys in the error, unless both languages have the same keys. */
type Missing = Exclude<MessageName, Messages<typeof es>> | Exclude<Messages<typeof es>, MessageName>
const complete: [Missing] extends [never] ? true : Missing = true

/** All messages of a language by their keys. */
function flatten(areas: Record<string, Record<string, string>>): Record<string, string> {
  const all: Record<string, string> = {}
  for (const [area, messages] of Object.entries(areas)) {
    for (const [key, text] of Object.entries(messages)) all[`${area}.${key}`] = text
  }
  return all
}

/** All messages of both languages. */
export const messages = { en: flatten(en), es: complete && flatten(es) }

/**
 * The message of a key in the user's language, with `{name}` filled in. With a `count`, `key_one` or `key_other` is
 * chosen by the plural rules of the language.
 */
export function t(key: MessageKey, values: Record<string, string | number> = {}): string {
  const { language } = preferences
  const text = find(key, values.count) ?? key
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name]
    if (value === undefined) return whole
    return typeof value === 'number' ? value.toLocaleString(language) : value
  })
}

/** The message of a computed key; undefined if the key is unknown, for example because a newer server added a name. */
export const tIfKnown = (key: string): string | undefined => find(key)

function find(key: string, count?: string | number): string | undefined {
  const { language } = preferences
  const table = messages[language]
  if (typeof count === 'number') {
    const form = table[`${key}_${new Intl.PluralRules(language).select(count)}`] ?? table[`${key}_other`]
    if (form !== undefined) return form
  }
  return table[key]
}
