// Writes the table `countries` of a file of words: node country-names.mjs TAG FILE
import { readFileSync, writeFileSync } from 'node:fs'

const [tag, file] = process.argv.slice(2)
const codes = JSON.parse(readFileSync(new URL('../../web/build/countries.json', import.meta.url), 'utf8'))
// Kosovo has no code in ISO 3166-1, but one that gazetteers use.
const all = [...new Set([...Object.values(codes), 'XK'])].sort()
const [long, short] = ['long', 'short'].map((style) => new Intl.DisplayNames(tag, { type: 'region', style }))
/** Countries whose long names are about their status, as "Hong Kong SAR China" is. */
const formal = new Set(['FK', 'HK', 'MO', 'PS'])
/** Names that readers do not use. */
const replaced = { 'Côte d’Ivoire (Costa do Marfim)': 'Costa do Marfim', 'Congo - Kinshasa': 'Congo-Kinshasa' }
const nameOf = (code) => {
  const name = (formal.has(code) ? short : long).of(code)
  return replaced[name] ?? name
}
const lines = all.map((code) => `${code} = ${JSON.stringify(nameOf(code))}`)
const [before] = readFileSync(file, 'utf8').split('\n# Made by scripts/country-names.')
writeFileSync(file, `${before.trimEnd()}\n\n# Made by scripts/country-names.\n[countries]\n${lines.join('\n')}\n`)
