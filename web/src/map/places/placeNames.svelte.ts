// Places of positions, from the server: requested in batches, and cached until the page is closed.
import { SvelteMap } from 'svelte/reactivity'

/** Maximum number of positions of one request. */
const mostPerRequest = 50
/** Maximum number of cached positions; beyond it the cache is cleared. */
const mostKept = 5_000
/** Time in which positions of rows that are drawn together are collected, in milliseconds. */
const gatherMs = 40

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

  /** The place of a position; empty until the server has answered. Views that read it are updated then. */
  words(latitude: number, longitude: number, reader: PlaceReader): string {
    return this.#known.get(keyOf(positionOf(latitude, longitude), reader)) ?? ''
  }

  /** Requests the place of a position, unless it is cached or requested already. */
  want(latitude: number, longitude: number, reader: PlaceReader): void {
    const at = positionOf(latitude, longitude)
    const key = keyOf(at, reader)
    if (this.#known.has(key) || this.#asked.has(key)) return
    this.#wanted.set(key, { at, reader })
    this.#timer ??= setTimeout(() => void this.#fetchNames(), gatherMs)
  }

  async #fetchNames(): Promise<void> {
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
      for (let from = 0; from < group.length; from += mostPerRequest)
        await this.#fetch(group.slice(from, from + mostPerRequest))
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
      // The shell reports a lost connection; the place is requested again when the position is next shown.
    } finally {
      for (const [key] of part) this.#asked.delete(key)
    }
  }
}

/** Rounded to about 100 m, so that a device that hardly moves causes no new request. */
const positionOf = (latitude: number, longitude: number): string =>
  `${Number(latitude.toFixed(3))},${Number(longitude.toFixed(3))}`

const keyOf = (at: string, { language, units }: PlaceReader): string => `${at} ${language} ${units}`
