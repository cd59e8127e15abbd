// Every language says the same: the same messages, with the same values to fill in, and none that is never used.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { firstKnown, languages, localeOf } from '$lib/access/languages'
import { locale, preferences, setPreferences } from '$lib/access/preferences.svelte'
import { loadLanguage, shownLanguage, t, tIfKnown } from '$lib/i18n/index.svelte'
import { messagesOf } from './messages'

const tags = languages.map(({ value }) => value)
const translations = tags.filter((tag) => tag !== 'en')
const english = messagesOf('en')
const valuesIn = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '').sort()

test('each folder of messages is of a language of the list', () => {
  const folders = readdirSync('src/i18n', { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(folders.map(({ name }) => name).sort()).toEqual(tags.toSorted())
  for (const tag of translations) expect(existsSync(join('src/i18n', tag, 'index.ts')), tag).toBe(true)
})

test.each(translations)('all messages of English are in %s', (tag) => {
  const translated = messagesOf(tag)
  const missing = [...english.keys()].filter((key) => !translated.has(key))
  const unknown = [...translated.keys()].filter((key) => !english.has(key))
  expect({ missing, unknown }).toEqual({ missing: [], unknown: [] })
})

test.each(translations)('a message in %s fills in the same values', (tag) => {
  const translated = messagesOf(tag)
  const wrong = [...english].filter(([key, text]) => {
    const other = translated.get(key)
    return other !== undefined && valuesIn(other).join() !== valuesIn(text).join()
  })
  expect(wrong.map(([key]) => key)).toEqual([])
})

test.each(translations)('a message in %s is not empty and not that of English', (tag) => {
  const translated = messagesOf(tag)
  expect([...translated].filter(([, text]) => !text.trim()).map(([key]) => key)).toEqual([])
  // Names and loanwords are the same in both; sentences are not.
  const isSentence = (text: string): boolean => text.split(/\s/).length > 4
  const left = [...translated].filter(([key, text]) => isSentence(text) && text === english.get(key))
  expect(left.map(([key]) => key)).toEqual([])
})

test('a message with a count has both forms', () => {
  for (const key of english.keys()) {
    const [, base, form] = /^(.*)_(one|other)$/.exec(key) ?? []
    if (base) expect(english.has(`${base}_${form === 'one' ? 'other' : 'one'}`), key).toBe(true)
  }
})

test('no message uses a word that means too much', () => {
  // As in the guide of the API's texts: notify, visible, deleted, current, interval and retention say it exactly.
  const vague = /\b(told|tells?|in sight|is gone|are gone|made by us|what became|any more|so much|rhythm|thing)\b/i
  expect([...english].filter(([, text]) => vague.test(text))).toEqual([])
})

/** All source of the console, without the generated types. */
const source = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(ts|svelte)$/.test(file) && !file.includes('api/schema'))
  .map((file) => readFileSync(join('src', file), 'utf8'))
  .join('\n')

test('every message that is asked for by name exists', () => {
  const asked = [...source.matchAll(/\bt\('([\w.]+)'/g)].map(([, key]) => key ?? '')
  const missing = asked.filter((key) => !english.has(key) && !english.has(`${key}_other`))
  expect([...new Set(missing)]).toEqual([])
})

test('every message is used', () => {
  // A key is used when it stands in the source, or when it begins as a template literal does.
  const beginnings = [...source.matchAll(/`([a-z]+\.[\w.-]*)\$\{/g)].map(([, beginning]) => beginning ?? '')
  const isUsed = (key: string): boolean =>
    source.includes(`'${key}'`) || beginnings.some((beginning) => key.startsWith(beginning))
  expect([...english.keys()].map((key) => key.replace(/_(one|other)$/, '')).filter((key) => !isUsed(key))).toEqual([])
})

test.each(tags)('alerts have the names that messages in %s give them', (tag) => {
  const words = readFileSync(`../crates/notify/src/template/words/${tag}.toml`, 'utf8')
  const [alerts = ''] = (words.split('[alert]\n')[1] ?? '').split('\n\n')
  const titles = [...alerts.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, name = '', title = '']) => [name, title])
  expect(titles.length).toBeGreaterThan(50)
  // SMS have no typographic apostrophe.
  const shown = messagesOf(tag)
  const differ = titles.filter(([name, title]) => shown.get(`alerts.name.${name}`)?.replaceAll('’', "'") !== title)
  expect(differ).toEqual([])
})

test('the first language of the browser that the console has is used', () => {
  expect(firstKnown(['nl-NL', 'pt-BR', 'en'])).toBe('pt')
  expect(firstKnown(['DE'])).toBe('de')
  expect(firstKnown(['nl', undefined, 'toString'])).toBeUndefined()
})

afterEach(() => setPreferences({ language: 'en' }))

test.each(tags)('messages in %s are shown once they are loaded', async (tag) => {
  await loadLanguage(tag)
  setPreferences({ language: tag })
  expect(shownLanguage()).toBe(tag)
  expect(t('common.language')).toBe(messagesOf(tag).get('common.language'))
  expect(tIfKnown('common.noSuchMessage')).toBeUndefined()
})

test('counts follow the plural rules of the language, and forms that no message has are `other`', async () => {
  const days = async (language: (typeof tags)[number], count: number): Promise<string> => {
    await loadLanguage(language)
    setPreferences({ language })
    const { one, other } = formsOf(language)
    const shown = t('device.days', { count })
    const number = count.toLocaleString(localeOf(language))
    expect([one, other].map((text) => text.replace('{count}', number))).toContain(shown)
    return shown === one.replace('{count}', number) ? 'one' : 'other'
  }
  const formsOf = (language: string): { one: string; other: string } => {
    const all = messagesOf(language)
    return { one: all.get('device.days_one') ?? '', other: all.get('device.days_other') ?? '' }
  }
  expect([await days('en', 0), await days('en', 1)]).toEqual(['other', 'one'])
  expect([await days('fr', 0), await days('fr', 1), await days('fr', 2)]).toEqual(['one', 'one', 'other'])
  expect([await days('pt', 0), await days('pt', 1)]).toEqual(['other', 'one'])
  // `many` in these languages.
  for (const language of ['es', 'fr', 'pt', 'it'] as const) expect(await days(language, 2_000_000)).toBe('other')
})

test('a language is kept until the next one is loaded', async () => {
  await loadLanguage('es')
  setPreferences({ language: 'es' })
  // As if its folder could not be loaded yet.
  Object.assign(preferences, { language: 'xx' })
  expect(shownLanguage()).toBe('es')
})

test('Portuguese is that of Portugal unless the browser names another', () => {
  setPreferences({ language: 'pt' })
  expect(locale()).toBe('pt-PT')
  setPreferences({ language: 'de' })
  expect(locale()).toBe('de')
})
