// The gazetteer: places with names for "21 km SW of Vigo" and for the search, small enough to be fetched once.
import { gzipSync } from 'node:zlib'
import { namesOf } from './sources.mjs'

/** Towns of fewer people are in it only where no other place is near. */
const enoughPeople = 5000
/** Kilometres within which a smaller town adds nothing. */
const near = 20

/** The kinds of places, as they are numbered in the file. */
export const kinds = ['town', 'cape', 'island', 'port']

function kilometres(a, b) {
  const radians = Math.PI / 180
  const east = (((a.longitude - b.longitude + 540) % 360) - 180) * Math.cos(((a.latitude + b.latitude) / 2) * radians)
  return 111.195 * Math.hypot(a.latitude - b.latitude, east)
}

/** Finds out quickly whether a place is near one of those added before. */
class Grid {
  #cells = new Map()
  #cell = ({ longitude, latitude }, dx = 0, dy = 0) =>
    `${(((Math.floor(longitude) + dx + 180) % 360) + 360) % 360} ${Math.floor(latitude) + dy}`

  add(place) {
    const cell = this.#cell(place)
    const places = this.#cells.get(cell)
    if (places) places.push(place)
    else this.#cells.set(cell, [place])
  }

  nearest(place) {
    // A degree of longitude is short in the far north: more cells are looked at.
    const reach = Math.abs(place.latitude) > 60 ? 3 : 1
    let least = Infinity
    for (let dx = -reach; dx <= reach; dx++) {
      for (const dy of [-1, 0, 1]) {
        for (const other of this.#cells.get(this.#cell(place, dx, dy)) ?? []) {
          least = Math.min(least, kilometres(place, other))
        }
      }
    }
    return least
  }
}

/** Towns for the map: of small ones close together the larger is kept. */
export function thinned(towns) {
  const grid = new Grid()
  return towns.filter((town) => {
    if (town.population < 2500 && grid.nearest(town) < 5) return false
    grid.add(town)
    return true
  })
}

/** From 0 for the largest cities to 9: half a decade of population each. */
const rankOf = (population) => Math.max(0, Math.min(9, Math.round(2 * (6.5 - Math.log10(Math.max(1, population))))))

export function gazetteer(towns, capes, ports) {
  const grid = new Grid()
  const places = []
  const add = (place) => {
    grid.add(place)
    places.push(place)
  }
  for (const town of towns) {
    if (town.population < enoughPeople && !town.isSeat && !town.isCapital && grid.nearest(town) < near) continue
    add({ ...town, kind: 'town', rank: rankOf(town.population), spanish: '' })
  }
  for (const { properties, geometry } of capes) {
    if (!['cape', 'island'].includes(properties.featurecla)) continue
    const { name, name_es: spanish } = namesOf(properties)
    const [longitude, latitude] = geometry.coordinates
    add({ name, spanish: spanish ?? '', country: '  ', kind: properties.featurecla, rank: 4, longitude, latitude })
  }
  for (const { properties, geometry } of ports) {
    const [longitude, latitude] = geometry.coordinates
    const port = { name: properties.name, spanish: '', country: '  ', kind: 'port', rank: 7, longitude, latitude }
    if (grid.nearest(port) > 10) add(port)
  }
  return places
}

/**
 * The file: the number of places, then columns: longitude and latitude in 65536ths of their range, rank and kind in one
 * byte each, countries of two letters, and names, one a line, Spanish after a tab where it differs.
 */
export function encode(places) {
  const count = Buffer.alloc(4)
  count.writeUInt32LE(places.length)
  const longitudes = Buffer.alloc(2 * places.length)
  const latitudes = Buffer.alloc(2 * places.length)
  places.forEach(({ longitude, latitude }, index) => {
    longitudes.writeUInt16LE(Math.round(((longitude + 180) / 360) * 65536) % 65536, 2 * index)
    latitudes.writeUInt16LE(Math.min(65535, Math.round(((latitude + 90) / 180) * 65536)), 2 * index)
  })
  const ranks = Buffer.from(places.map(({ rank }) => rank))
  const sorts = Buffer.from(places.map(({ kind }) => kinds.indexOf(kind)))
  const countries = Buffer.from(places.map(({ country }) => country).join(''))
  const names = Buffer.from(places.map(({ name, spanish }) => (spanish ? `${name}\t${spanish}` : name)).join('\n'))
  return gzipSync(Buffer.concat([count, longitudes, latitudes, ranks, sorts, countries, names]), { level: 9 })
}
