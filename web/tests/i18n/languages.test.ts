// Every language says the same: the same messages, with the same values to fill in, and none that is never used.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import en from '$lib/i18n/en'
import es from '$lib/i18n/es'

type Areas = Record<string, Record<string, string>>
const flat = (areas: Areas): Map<string, string> =>
  new Map(
    Object.entries(areas).flatMap(([area, all]) => Object.entries(all).map(([key, text]) => [`${area}.${key}`, text]))
  )
const [english, spanish] = [flat(en), flat(es)]
const valuesIn = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '').sort()

test('both languages have the same messages', () => {
  expect([...spanish.keys()].sort()).toEqual([...english.keys()].sort())
})

test('a translation fills in the same values', () => {
  for (const [key, text] of english) expect([key, valuesIn(spanish.get(key) ?? '')]).toEqual([key, valuesIn(text)])
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
