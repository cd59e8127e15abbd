// Every text the console shows comes from the message files beside this one: a folder for each language, a file for
// each area. Keys are typed by the English files, which are part of the program, so that a wrong key is a type error.
// Another language is loaded when it is shown; unit tests find keys that it lacks.
import { localeOf, type Language } from '$lib/access/languages'
import { preferences } from '$lib/access/preferences.svelte'
import en from './en'

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

type Table = Record<string, string>

/** All messages of a language by their keys. */
function flatten(areas: Record<string, Record<string, string>>): Table {
  const all: Table = {}
  for (const [area, messages] of Object.entries(areas)) {
    for (const [key, text] of Object.entries(messages)) all[`${area}.${key}`] = text
  }
  return all
}

const english = flatten(en)

/** The messages of the languages that were loaded. */
let loaded: Partial<Record<Language, Table>> = $state.raw({ en: english })
/** Shown until the language that was chosen is loaded. */
let before: Language = $state.raw('en')
const folders = import.meta.glob<{ default: Record<string, Record<string, string>> }>('./*/index.ts')

/** Loads the messages of a language, so that `t` returns them. */
export async function loadLanguage(language: Language): Promise<void> {
  const load = folders[`./${language}/index.ts`]
  if (!loaded[language] && load) {
    const files = Object.entries((await load()).default)
    const areas = files.map(([path, messages]) => [path.slice('./'.length, -'.json'.length), messages])
    loaded = { ...loaded, [language]: flatten(Object.fromEntries(areas)) }
  }
  before = language
}

/** The language of the messages that are shown. */
export const shownLanguage = (): Language => (loaded[preferences.language] ? preferences.language : before)

/**
 * The message of a key in the user's language, with `{name}` filled in. With a `count`, `key_one` or `key_other` is
 * chosen by the plural rules of the language.
 */
export function t(key: MessageKey, values: Record<string, string | number> = {}): string {
  const text = find(key, values.count) ?? key
  const locale = localeOf(preferences.language)
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name]
    if (value === undefined) return whole
    return typeof value === 'number' ? value.toLocaleString(locale) : value
  })
}

/** The message of a computed key; undefined if the key is unknown, for example because a newer server added a name. */
export const tIfKnown = (key: string): string | undefined => find(key)

/** A message that the language lacks is shown in English. */
function find(key: string, count?: string | number): string | undefined {
  const language = shownLanguage()
  return findIn(loaded[language] ?? english, language, key, count) ?? findIn(english, 'en', key, count)
}

function findIn(table: Table, language: Language, key: string, count?: string | number): string | undefined {
  if (typeof count === 'number') {
    // Languages with further forms, such as `many`, use `other` for them: they differ from a million on.
    const form = new Intl.PluralRules(localeOf(language)).select(count)
    const text = table[`${key}_${form}`] ?? table[`${key}_other`]
    if (text !== undefined) return text
  }
  return table[key]
}
