// Tells whether two built consoles are the same; the second may have packed forms in place of a plain file.
// Packed bytes themselves may differ between versions of the packer.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { files } from './files.mjs'

const [fresh, kept] = process.argv.slice(2)

/** What a kept file holds, unpacked. */
function content(name) {
  const bytes = readFileSync(join(kept, name))
  if (name.endsWith('.br')) return brotliDecompressSync(bytes)
  return name.endsWith('.gz') ? gunzipSync(bytes) : bytes
}
const names = (folder) => files(folder).map((path) => path.slice(folder.length + 1))
const wrong = []

const expected = names(fresh)
const present = names(kept)
for (const name of expected) {
  const forms = present.includes(name) ? [name] : [`${name}.br`, `${name}.gz`]
  if (!forms.every((form) => present.includes(form))) wrong.push(`${name} is missing`)
}
for (const name of present) {
  const plain = name.replace(/\.(br|gz)$/, '')
  if (!expected.includes(plain)) wrong.push(`${name} is left over`)
  else if (!content(name).equals(readFileSync(join(fresh, plain)))) wrong.push(`${name} is another`)
}
for (const line of wrong) console.error(line)
process.exitCode = wrong.length > 0 ? 1 : 0
