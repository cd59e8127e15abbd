// Towns, capes, islands and ports with names: which is nearest to a position, and which has a name.
import { bearing } from './trackGeo'
import { distanceBetween } from './geodesy'

export type PlaceKind = 'town' | 'cape' | 'island' | 'port'
/** As they are numbered in the file. */
const kinds: PlaceKind[] = ['town', 'cape', 'island', 'port']

export interface NamedPlace {
  name: string
  kind: PlaceKind
  /** Two letters; null for what belongs to no country in the file. */
  country: string | null
  longitude: number
  latitude: number
}

export interface Near {
  place: NamedPlace
  metres: number
  /** Degrees clockwise from north, from the place to the position. */
  bearing: number
}

/** Metres within which a position is at a place, whatever its size. */
const atPlace = 3_000
/** Metres that a larger place may be farther away, for each step of rank, and still be named. */
const perRank = 9_000
const metresPerDegree = 111_195

export class Gazetteer {
  readonly #longitudes: Uint16Array
  readonly #latitudes: Uint16Array
  readonly #ranks: Uint8Array
  readonly #kinds: Uint8Array
  readonly #countries: string
  readonly #names: string[]
  /** Places from south to north, so that a search need not look at all of them. */
  readonly #byLatitude: Uint32Array
  /** Names as they are searched, made when the first search needs them. */
  #searched: string[] | undefined

  constructor(
    bytes: ArrayBuffer,
    private readonly language: string
  ) {
    const count = new DataView(bytes).getUint32(0, true)
    const text = new TextDecoder()
    let at = 4
    const take = (length: number): ArrayBuffer => bytes.slice(at, (at += length))
    this.#longitudes = new Uint16Array(take(2 * count))
    this.#latitudes = new Uint16Array(take(2 * count))
    this.#ranks = new Uint8Array(take(count))
    this.#kinds = new Uint8Array(take(count))
    this.#countries = text.decode(take(2 * count))
    this.#names = text.decode(bytes.slice(at)).split('\n')
    this.#byLatitude = Uint32Array.from({ length: count }, (_, index) => index)
    this.#byLatitude.sort((a, b) => this.#latitudes[a]! - this.#latitudes[b]!)
  }

  get size(): number {
    return this.#names.length
  }

  /** The place by which a position is best described: a larger one is preferred to a nearer village. */
  nearest(longitude: number, latitude: number): Near | null {
    let best = -1
    let least = Infinity
    const consider = (index: number): void => {
      const metres = distanceBetween([this.#longitudeOf(index), this.#latitudeOf(index)], [longitude, latitude])
      // Capes are what sailors name, however few live there.
      const rank = this.#kinds[index] === kinds.indexOf('cape') ? 2 : this.#ranks[index]!
      const cost = metres <= atPlace ? (metres + rank * perRank) / 100 : metres + rank * perRank
      if (cost >= least) return
      least = cost
      best = index
    }
    // Outwards from the position's own latitude, until the latitude alone is too far.
    const count = this.#byLatitude.length
    let south = this.#firstNorthOf(latitude) - 1
    let north = south + 1
    const gap = (position: number): number => {
      if (position < 0 || position >= count) return Infinity
      return Math.abs(this.#latitudeOf(this.#byLatitude[position]!) - latitude) * metresPerDegree
    }
    for (;;) {
      const [below, above] = [gap(south), gap(north)]
      if (Math.min(below, above) >= Math.max(least, atPlace)) break
      consider(this.#byLatitude[below <= above ? south-- : north++]!)
    }
    if (best < 0) return null
    const place = this.#place(best)
    return {
      place,
      metres: distanceBetween([place.longitude, place.latitude], [longitude, latitude]),
      bearing: bearing(place.latitude, place.longitude, latitude, longitude)
    }
  }

  /** Places whose names begin with a text, or have a word that does; larger ones first. */
  search(text: string, most: number): NamedPlace[] {
    const wanted = plain(text)
    if (!wanted) return []
    this.#searched ??= this.#names.map((names) => plain(names))
    const found: [score: number, index: number][] = []
    this.#searched.forEach((name, index) => {
      const at = name.indexOf(wanted)
      if (at < 0) return
      const isWord = at === 0 || name[at - 1] === ' ' || name[at - 1] === '\t' || name[at - 1] === '-'
      const ends = at + wanted.length === name.length || name[at + wanted.length] === '\t'
      // What matches whole comes before what only begins so, that before a word inside the name; then by size.
      if (isWord || name.includes(` ${wanted}`))
        found.push([(at === 0 ? (ends ? 0 : 4) : 8) + this.#ranks[index]!, index])
    })
    found.sort(([a, first], [b, second]) => a - b || first - second)
    return found.slice(0, most).map(([, index]) => this.#place(index))
  }

  #place(index: number): NamedPlace {
    const [name = '', spanish] = this.#names[index]!.split('\t')
    const country = this.#countries.slice(2 * index, 2 * index + 2)
    return {
      name: this.language === 'es' && spanish ? spanish : name,
      kind: kinds[this.#kinds[index]!] ?? 'town',
      country: country === '  ' ? null : country,
      longitude: this.#longitudeOf(index),
      latitude: this.#latitudeOf(index)
    }
  }

  #longitudeOf(index: number): number {
    return (this.#longitudes[index]! / 65536) * 360 - 180
  }

  #latitudeOf(index: number): number {
    return (this.#latitudes[index]! / 65536) * 180 - 90
  }

  #firstNorthOf(latitude: number): number {
    let [low, high] = [0, this.#byLatitude.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#latitudeOf(this.#byLatitude[middle]!) < latitude) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** A text without accents and capitals. */
function plain(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/ø/gi, 'o')
    .replace(/ł/gi, 'l')
    .replace(/ß/g, 'ss')
    .toLowerCase()
    .trim()
}

/** A position written as two decimal numbers, latitude first, as people paste it. */
export function positionIn(text: string): { latitude: number; longitude: number } | null {
  const match = /^\s*(-?\d{1,2}(?:\.\d+)?)\s*[°]?\s*[,;\s]\s*(-?\d{1,3}(?:\.\d+)?)\s*[°]?\s*$/.exec(text)
  if (!match) return null
  const [latitude, longitude] = [Number(match[1]), Number(match[2])]
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : null
}
