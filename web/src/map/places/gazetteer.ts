// Towns, capes, islands and ports, found by their names. The server finds the one nearest to a position.

export type PlaceKind = 'town' | 'cape' | 'island' | 'port'
/** In the order of their numbers in the file. */
const kinds: PlaceKind[] = ['town', 'cape', 'island', 'port']

export interface NamedPlace {
  name: string
  kind: PlaceKind
  /** Two letters; null for a place without a country in the file. */
  country: string | null
  longitude: number
  latitude: number
}

export class Gazetteer {
  readonly #longitudes: Uint16Array
  readonly #latitudes: Uint16Array
  readonly #ranks: Uint8Array
  readonly #kinds: Uint8Array
  readonly #countries: string
  readonly #names: string[]
  /** Normalised names, computed when the first search needs them. */
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
  }

  get size(): number {
    return this.#names.length
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
      // Exact matches come first, then names that begin with the text, then names with a word that does; then by size.
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
}

/** A text without accents, in lower case. */
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
