// The gazetteer for the search of places: fetched when something is first searched, 600 kB. It is part of the bundled map,
// and without that no place is found by name.
import { preferences } from '../preferences.svelte'
import { Gazetteer, type NamedPlace } from './gazetteer'
import { bundledFile, hasBundledMap } from './packs'

class Places {
  #bytes: ArrayBuffer | undefined = $state.raw()
  #asked: Promise<void> | undefined
  readonly #gazetteer = $derived(this.#bytes ? new Gazetteer(this.#bytes, preferences.language) : undefined)

  /** Fetches it once, and again only when that failed. */
  load(): Promise<void> {
    this.#asked ??= this.#fetch().catch(() => {
      this.#asked = undefined
    })
    return this.#asked
  }

  async #fetch(): Promise<void> {
    if (await hasBundledMap()) this.#bytes = await bundledFile('places.bin')
  }

  search(text: string, most: number): NamedPlace[] {
    return this.#gazetteer?.search(text, most) ?? []
  }
}

export const places = new Places()
