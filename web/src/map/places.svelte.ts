// The gazetteer for the whole page: fetched when something first needs it, 600 kB. It is part of the bundled map, and
// without that no place has a name.
import { t } from '../i18n/index.svelte'
import { preferences } from '../preferences.svelte'
import { Gazetteer, type NamedPlace } from './gazetteer'
import { bundledFile, hasBundledMap } from './packs'
import { inWords } from './placeWords'

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

  /** Where a position is, in words; empty until the gazetteer is there. Views that read it are updated then. */
  words(latitude: number, longitude: number): string {
    const near = this.#gazetteer?.nearest(longitude, latitude)
    if (!near) return ''
    const { units, language } = preferences
    return inWords(near, {
      units,
      language,
      away: (distance, point, place) => t('map.away', { distance, direction: t(`map.point.${point}`), place }),
      nauticalMiles: t('map.nauticalMiles')
    })
  }

  search(text: string, most: number): NamedPlace[] {
    return this.#gazetteer?.search(text, most) ?? []
  }
}

export const places = new Places()
