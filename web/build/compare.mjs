// Checks that two builds of the console are the same. The second may have compressed forms in place of a plain file;
// their decompressed contents are compared, because another version of the compressor may write other bytes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { files } from './files.mjs'

const [fresh, kept] = process.argv.slice(2)

/** The decompressed content of a stored file. */
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
  else if (!content(name).equals(readFileSync(join(fresh, plain)))) wrong.push(`${name} differs`)
}
for (const line of wrong) console.error(line)
process.exitCode = wrong.length > 0 ? 1 : 0
