// Every language says the same things, with the same blanks to fill in.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const folder = new URL('../src/i18n/', import.meta.url)

function messages(language: string): Map<string, string> {
  const all = new Map<string, string>()
  for (const file of readdirSync(new URL(`${language}/`, folder))) {
    const table = JSON.parse(readFileSync(new URL(`${language}/${file}`, folder), 'utf8')) as Record<string, string>
    for (const [key, text] of Object.entries(table)) all.set(`${file.replace('.json', '')}.${key}`, text)
  }
  return all
}

const blanks = (text: string | undefined): string[] =>
  [...(text ?? '').matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '').sort()

const english = messages('en')
const spanish = messages('es')

test('both languages have the same messages', () => {
  expect([...spanish.keys()].sort()).toEqual([...english.keys()].sort())
})

test('a translation fills in what the original does', () => {
  for (const [key, text] of english) expect(blanks(spanish.get(key)), key).toEqual(blanks(text))
})

function sources(from: URL): string[] {
  return readdirSync(from, { withFileTypes: true }).flatMap((entry) => {
    const path = new URL(entry.isDirectory() ? `${entry.name}/` : entry.name, from)
    if (entry.isDirectory()) return sources(path)
    return /\.(svelte|ts)$/.test(entry.name) ? [readFileSync(path, 'utf8')] : []
  })
}

test('every message that is asked for by name exists', () => {
  const code = sources(new URL('../src/', import.meta.url)).join('\n')
  const asked = [...code.matchAll(/\bt\('([\w.]+)'/g)].map(([, key]) => key ?? '')
  const missing = asked.filter((key) => !english.has(key) && !english.has(`${key}_other`))
  expect([...new Set(missing)]).toEqual([])
})
