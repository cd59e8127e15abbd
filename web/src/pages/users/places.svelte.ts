// The countries and time zones the server knows, asked for once and only when a form needs them.
import { api, ok } from '../../api/client'
import { country } from '../../format'
import { preferences } from '../../preferences.svelte'

interface Option {
  value: string
  label: string
}

class Places {
  #codes: string[] = $state([])
  #zones: Option[] = $state([])
  #asked = false

  /** Countries by their names in the user's language. */
  get countries(): Option[] {
    this.#ask()
    const byName = new Intl.Collator(preferences.language)
    return this.#codes
      .map((value) => ({ value, label: country(value) }))
      .sort((a, b) => byName.compare(a.label, b.label))
  }

  get zones(): Option[] {
    this.#ask()
    return this.#zones
  }

  #ask(): void {
    if (this.#asked) return
    this.#asked = true
    void this.#load()
  }

  async #load(): Promise<void> {
    try {
      const [countries, zones] = await Promise.all([
        ok(api.GET('/api/users/countries')),
        ok(api.GET('/api/users/timeZones'))
      ])
      this.#codes = Object.keys(countries.countries)
      this.#zones = Object.entries(zones.timeZones).map(([value, label]) => ({ value, label: String(label) }))
    } catch {
      // The form shows what is set and can be opened again.
      this.#asked = false
    }
  }
}

export const places = new Places()

/** Options with the present value among them, also before the list has come. */
export function withValue(options: Option[], value: string | null | undefined): Option[] {
  return !value || options.some((option) => option.value === value) ? options : [{ value, label: value }, ...options]
}
