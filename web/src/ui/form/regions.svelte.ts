// The countries and time zones that the server knows, loaded once when a form first needs them.
import { api, ok } from '$lib/api/client'
import { country } from '$lib/format/format'
import { locale } from '$lib/access/preferences.svelte'

interface Option {
  value: string
  label: string
}

class Regions {
  #codes: string[] = $state([])
  #timeZones: Option[] = $state([])
  #isAsked = false

  /** Countries by their names in the user's language. */
  get countries(): Option[] {
    this.#loadOnce()
    const byName = new Intl.Collator(locale())
    return this.#codes
      .map((value) => ({ value, label: country(value) }))
      .sort((a, b) => byName.compare(a.label, b.label))
  }

  get timeZones(): Option[] {
    this.#loadOnce()
    return this.#timeZones
  }

  #loadOnce(): void {
    if (this.#isAsked) return
    this.#isAsked = true
    void this.#load()
  }

  async #load(): Promise<void> {
    try {
      const [countries, zones] = await Promise.all([
        ok(api.GET('/api/users/countries')),
        ok(api.GET('/api/users/timeZones'))
      ])
      this.#codes = Object.keys(countries.countries)
      this.#timeZones = Object.entries(zones.timeZones).map(([value, label]) => ({ value, label: String(label) }))
    } catch {
      // The form shows the current value; opening it again retries.
      this.#isAsked = false
    }
  }
}

export const regions = new Regions()

/** Options that contain the current value even before the list is loaded. */
export function withValue(options: Option[], value: string | null | undefined): Option[] {
  return !value || options.some((option) => option.value === value) ? options : [{ value, label: value }, ...options]
}
