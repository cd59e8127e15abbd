// Writes a .br and a .gz beside every built file that is worth it, so that the server only picks one.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = new URL('../../crates/server/assets/console/', import.meta.url).pathname
const worthIt = /\.(html|js|mjs|css|json|svg)$/
// Below this a packet holds it anyway.
const least = 1024

function files(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? files(path) : [path]
  })
}

let raw = 0
let small = 0
for (const path of files(root).filter((path) => worthIt.test(path))) {
  const content = readFileSync(path)
  // The server writes its root into the page, so the page is not packed ahead.
  if (content.length < least || path.endsWith('.html')) continue
  const br = brotliCompressSync(content, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
  })
  const gz = gzipSync(content, { level: 9 })
  writeFileSync(`${path}.br`, br)
  writeFileSync(`${path}.gz`, gz)
  if (!path.includes('/basemap/')) {
    raw += content.length
    small += br.length
  }
}
console.log(`console: ${Math.round(raw / 1024)} KiB, ${Math.round(small / 1024)} KiB packed, without the basemap`)
