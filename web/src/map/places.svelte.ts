// The gazetteer for the whole page: fetched when something first needs it, 600 kB.
import { t } from '../i18n/index.svelte'
import { preferences } from '../preferences.svelte'
import { Gazetteer, type NamedPlace } from './gazetteer'
import { unpacked } from './packs'
import { inWords } from './placeWords'

class Places {
  #bytes: ArrayBuffer | undefined = $state.raw()
  #asked: Promise<void> | undefined
  readonly #gazetteer = $derived(this.#bytes ? new Gazetteer(this.#bytes, preferences.language) : undefined)

  /** Fetches it once, and again only when that failed. */
  load(): Promise<void> {
    this.#asked ??= unpacked('places.bin').then(
      (bytes) => {
        this.#bytes = bytes
      },
      () => {
        this.#asked = undefined
      }
    )
    return this.#asked
  }

  /** Where a position is, in words; empty until the gazetteer is there. Views that read it are updated then. */
  words(latitude: number, longitude: number): string {
    void this.load()
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
