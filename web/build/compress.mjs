// Vite's last step: replaces every built file that compresses well by a .br and a .gz, so that the server only picks
// one and the binary holds no plain copy.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { files } from './files.mjs'

const compressible = /\.(js|mjs|css|json|svg|txt)$/
// Smaller files fit into one packet anyway.
const minBytes = 1024
const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }

/** A plugin for Vite that packs what was built. */
export function compress() {
  let folder = ''
  return {
    name: 'perigee-compress',
    apply: (_, { command }) => command === 'build' && !process.env.PERIGEE_UNPACKED,
    configResolved: (config) => void (folder = config.build.outDir),
    closeBundle: () => pack(folder)
  }
}

function pack(folder) {
  let raw = 0
  let small = 0
  for (const path of files(folder).filter((path) => compressible.test(path))) {
    const content = readFileSync(path)
    if (content.length < minBytes) continue
    const packed = brotliCompressSync(content, { params: quality })
    writeFileSync(`${path}.br`, packed)
    writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }))
    rmSync(path)
    if (path.includes('/basemap/')) continue
    raw += content.length
    small += packed.length
  }
  console.log(`console: ${Math.round(raw / 1024)} KiB, ${Math.round(small / 1024)} KiB packed, without the basemap`)
}
