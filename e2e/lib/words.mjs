// Finds text on a page that is not in the language it should be in.
import { readdir, readFile } from 'node:fs/promises'

const folder = new URL('../../web/src/i18n/', import.meta.url)

/** All messages of a language, by area and key. */
async function messagesOf(language) {
  const all = new Map()
  const files = await readdir(new URL(`${language}/`, folder))
  for (const file of files.filter((name) => name.endsWith('.json'))) {
    const texts = JSON.parse(await readFile(new URL(`${language}/${file}`, folder), 'utf8'))
    for (const [key, text] of Object.entries(texts)) all.set(`${file.replace('.json', '')}.${key}`, text)
  }
  return all
}

/** The tags of the languages: the folders of messages. */
export const languages = (await readdir(folder, { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
const messages = Object.fromEntries(await Promise.all(languages.map(async (tag) => [tag, await messagesOf(tag)])))

/** One message in every language. */
export const inEveryLanguage = (key) => languages.map((tag) => messages[tag].get(key)).filter((text) => text !== undefined)

/** One message in a language. */
export const message = (language, key) => messages[language].get(key)

/** Frequent words of each language, for text that is in no message file. */
const frequent = {
  en: 'the and with from this your not are was will have please when which',
  es: 'el los las una con para por está son del según sin cuando aún',
  fr: 'les des une avec pour est dans sont selon sans quand pas vous aux',
  de: 'der die das und mit für von ist nicht wird sind werden nach ohne wenn',
  pt: 'os das uma com para não está são dos pela sem quando ainda',
  it: 'gli delle una con per non è sono della senza quando ancora'
}

/** Frequent words of the other languages that the messages of a language do not have. */
function commonForeign(language) {
  const own = new Set([...messages[language].values()].flatMap((text) => text.toLowerCase().match(/\p{L}+/gu) ?? []))
  const words = Object.entries(frequent).flatMap(([tag, list]) => (tag === language ? [] : list.split(' ')))
  return new Set(words.filter((word) => !own.has(word)))
}

/** A message as a pattern: values that are filled in may be anything. */
function patternOf(text) {
  const escaped = text.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${escaped.join('.+')}$`, 's')
}

/** Whether a text is one of these messages. Those without values are looked up, which is faster than thousands of patterns. */
function recognizer(texts) {
  const whole = new Set(texts.filter((text) => !/\{\w+\}/.test(text)))
  const patterns = texts.filter((text) => !whole.has(text)).map(patternOf)
  return (text) => whole.has(text) || patterns.some((pattern) => pattern.test(text))
}

/** Messages that only other languages have; messages that consist only of values are left out. */
function foreignTo(language) {
  const own = new Set(messages[language].values())
  const others = languages.filter((tag) => tag !== language).flatMap((tag) => [...messages[tag].values()])
  return [...new Set(others)].filter((text) => !own.has(text) && /\p{L}{3}/u.test(text.replace(/\{\w+\}/g, '')))
}

/** What is looked for and what is allowed on a page in a language, computed when it is first needed. */
const known = new Map()
function knownOf(language) {
  if (!known.has(language)) {
    known.set(language, {
      isForeign: recognizer(foreignTo(language)),
      isOwn: recognizer([...messages[language].values()]),
      common: commonForeign(language),
      judged: new Map()
    })
  }
  return known.get(language)
}

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
  const { judged } = knownOf(language)
  const found = []
  for (const [shown, isOption] of await textOf(page)) {
    const text = names.reduce((rest, name) => rest.replaceAll(name, ''), shown).trim()
    const key = `${isOption} ${text}`
    if (!judged.has(key)) judged.set(key, isWrong(text, isOption, language))
    if (judged.get(key)) found.push(shown)
  }
  return found
}

function isWrong(text, isOption, language) {
  const { isForeign, isOwn, common } = knownOf(language)
  if (messages.en.has(text) && /^[a-z]+\.[\w.-]+$/.test(text)) return true
  if (isForeign(text) && !isOwn(text)) return true
  // Options may be proper names: countries, time zones, makers.
  return !isOption && (text.toLowerCase().match(/\p{L}+/gu) ?? []).some((word) => common.has(word))
}
