// Places of positions, from the server: requested in batches, and cached until the page is closed.
import { SvelteMap } from 'svelte/reactivity'

/** Positions of one request; the server takes no more. */
const most = 50
/** The largest number of cached positions; beyond it the cache is cleared. */
const mostKept = 5_000
/** Milliseconds in which rows of a list that are drawn together are gathered. */
const pause = 40

export interface PlaceReader {
  language: string
  units: string
}

export class PlaceNames {
  readonly #known = new SvelteMap<string, string>()
  readonly #wanted = new Map<string, { at: string; reader: PlaceReader }>()
  readonly #asked = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly fetch: (at: string[], reader: PlaceReader) => Promise<string[]>) {}

  /** Where a position is; empty until the server has answered. Views that read it are updated then. */
  words(latitude: number, longitude: number, reader: PlaceReader): string {
    return this.#known.get(keyOf(positionOf(latitude, longitude), reader)) ?? ''
  }

  /** Requests the place of a position, unless it is cached or requested already. */
  want(latitude: number, longitude: number, reader: PlaceReader): void {
    const at = positionOf(latitude, longitude)
    const key = keyOf(at, reader)
    if (this.#known.has(key) || this.#asked.has(key)) return
    this.#wanted.set(key, { at, reader })
    this.#timer ??= setTimeout(() => void this.#ask(), pause)
  }

  async #ask(): Promise<void> {
    this.#timer = undefined
    const all = [...this.#wanted]
    this.#wanted.clear()
    const groups = new Map<string, typeof all>()
    for (const one of all) {
      const { language, units } = one[1].reader
      const group = groups.get(`${language} ${units}`)
      if (group) group.push(one)
      else groups.set(`${language} ${units}`, [one])
    }
    for (const group of groups.values()) {
      for (let from = 0; from < group.length; from += most) await this.#fetch(group.slice(from, from + most))
    }
  }

  async #fetch(part: [string, { at: string; reader: PlaceReader }][]): Promise<void> {
    for (const [key] of part) this.#asked.add(key)
    try {
      const texts = await this.fetch(
        part.map(([, { at }]) => at),
        part[0]![1].reader
      )
      if (this.#known.size > mostKept) this.#known.clear()
      part.forEach(([key], index) => this.#known.set(key, texts[index] ?? ''))
    } catch {
      // The shell reports a lost connection; the words are asked for again when the position is next shown.
    } finally {
      for (const [key] of part) this.#asked.delete(key)
    }
  }
}

/** To about 100 m: a device that hardly moves is not asked for again. */
const positionOf = (latitude: number, longitude: number): string =>
  `${Number(latitude.toFixed(3))},${Number(longitude.toFixed(3))}`

const keyOf = (at: string, { language, units }: PlaceReader): string => `${at} ${language} ${units}`
