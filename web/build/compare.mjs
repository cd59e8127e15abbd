// Tells whether two built consoles are the same, and whether the packed forms of the second hold what they should.
// Packed bytes themselves may differ between versions of the packer.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { files } from './files.mjs'

const [fresh, kept] = process.argv.slice(2)
const isPacked = (name) => /\.(br|gz)$/.test(name)
const names = (folder) => files(folder).map((path) => path.slice(folder.length + 1))
const wrong = []

const expected = names(fresh)
const present = names(kept)
for (const name of expected) if (!present.includes(name)) wrong.push(`${name} is missing`)
for (const name of present.filter((name) => !isPacked(name))) {
  if (!expected.includes(name)) wrong.push(`${name} is left over`)
  else if (!readFileSync(join(fresh, name)).equals(readFileSync(join(kept, name)))) {
    wrong.push(`${name} is another`)
  }
}
for (const name of present.filter(isPacked)) {
  const plain = join(kept, name.replace(/\.(br|gz)$/, ''))
  const unpack = name.endsWith('.br') ? brotliDecompressSync : gunzipSync
  if (!existsSync(plain) || !unpack(readFileSync(join(kept, name))).equals(readFileSync(plain))) {
    wrong.push(`${name} holds something else`)
  }
}
for (const line of wrong) console.error(line)
process.exitCode = wrong.length > 0 ? 1 : 0
