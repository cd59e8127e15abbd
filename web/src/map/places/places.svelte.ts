// The gazetteer for the search of places: fetched at the first search, 600 kB.
import { address } from '$lib/api/client'
import { preferences } from '$lib/access/preferences.svelte'
import { Gazetteer, type NamedPlace } from './gazetteer'

class Places {
  #bytes: ArrayBuffer | undefined = $state.raw()
  #asked: Promise<void> | undefined
  readonly #gazetteer = $derived(this.#bytes ? new Gazetteer(this.#bytes, preferences.language) : undefined)

  /** Fetches the gazetteer once, and again only if that failed. */
  load(): Promise<void> {
    this.#asked ??= this.#fetch().catch(() => {
      this.#asked = undefined
    })
    return this.#asked
  }

  async #fetch(): Promise<void> {
    const answer = await fetch(address('api/map/places.bin'))
    if (!answer.ok) throw new Error(`cannot load the places: ${answer.status}`)
    this.#bytes = await answer.arrayBuffer()
  }

  search(text: string, most: number): NamedPlace[] {
    return this.#gazetteer?.search(text, most) ?? []
  }
}

export const places = new Places()
