// Finds text on a page that is not in the language it should be in.
import { readdir, readFile } from 'node:fs/promises'

const folder = new URL('../../web/src/i18n/', import.meta.url)

/** All messages of a language, by area and key. */
async function messagesOf(language) {
  const all = new Map()
  for (const file of await readdir(new URL(`${language}/`, folder))) {
    const texts = JSON.parse(await readFile(new URL(`${language}/${file}`, folder), 'utf8'))
    for (const [key, text] of Object.entries(texts)) all.set(`${file.replace('.json', '')}.${key}`, text)
  }
  return all
}

const messages = { en: await messagesOf('en'), es: await messagesOf('es') }
/** Words that only one of the languages has, for text that is in no message file. */
const common = {
  en: /\b(the|and|with|from|this|your|not|are|was|will|have|please|when|which)\b/i,
  es: /\b(el|los|las|una|con|para|por|está|son|del|según|sin|cuando|aún)\b/i
}

/** A message as a pattern: values that are filled in may be anything. */
function patternOf(text) {
  const escaped = text.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${escaped.join('.+')}$`, 's')
}

/** Messages that only the other language has; messages that consist only of values are left out. */
function foreignTo(language) {
  const other = language === 'en' ? 'es' : 'en'
  const own = new Set([...messages[language].values()])
  return [...messages[other].values()]
    .filter((text) => !own.has(text) && /\p{L}{3}/u.test(text.replace(/\{\w+\}/g, '')))
    .map(patternOf)
}

const foreign = { en: foreignTo('en'), es: foreignTo('es') }

/** All texts of a page: visible text, and the labels, titles and placeholders of elements. */
const textOf = (page) =>
  page.evaluate(() => {
    /** By text: whether it occurs only in `option` elements. */
    const texts = new Map()
    const skipped = 'script, style, code, pre, textarea, noscript, .maplibregl-ctrl-attrib, .mono, [lang]:not(html)'
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.parentElement.closest(skipped)) continue
      const text = node.textContent.replace(/\s+/g, ' ').trim()
      texts.set(text, (texts.get(text) ?? true) && node.parentElement.matches('option'))
    }
    for (const element of document.querySelectorAll('[aria-label], [title], [placeholder], [alt]')) {
      if (element.closest(skipped)) continue
      for (const name of ['aria-label', 'title', 'placeholder', 'alt']) {
        texts.set((element.getAttribute(name) ?? '').trim(), false)
      }
    }
    texts.set(document.title, false)
    return [...texts].filter(([text]) => text)
  })

/** Texts of a page that are not in the language. `names`, which users chose, are in no language and are ignored. */
export async function untranslated(page, language, names) {
  const other = language === 'en' ? 'es' : 'en'
  const own = [...messages[language].values()].map(patternOf)
  const found = []
  for (const [shown, isOption] of await textOf(page)) {
    const text = names.reduce((rest, name) => rest.replaceAll(name, ''), shown).trim()
    const isKey = messages.en.has(text) && /^[a-z]+\.[\w.-]+$/.test(text)
    const isForeign = foreign[language].some((pattern) => pattern.test(text)) && !own.some((pattern) => pattern.test(text))
    // Options may be proper names: countries, time zones, makers.
    if (isKey || isForeign || (!isOption && common[other].test(text))) found.push(shown)
  }
  return found
}
