// How many alerts nobody has taken note of, for whoever shows a number of them. It follows the stream.
import { api, ok, type Schemas } from '../api/client'
import { fleet } from '../live/fleet.svelte'
import type { Event } from '../live/stream'
import { stageOf } from './filter'

type Alert = Schemas['Alert']

/** No more than these are counted: beyond it says so. */
const most = 1000

class OpenAlerts {
  count = $state(0)
  /** Whether any of them cannot wait. */
  critical = $state(false)
  readonly #ids = new Map<string, boolean>()

  /** Counts and goes on counting; the answer ends that. */
  follow(): () => void {
    const unhear = fleet.onEvent((event) => this.#apply(event))
    // Loaded anew whenever the fleet is: events may have been missed before that.
    const unlisten = fleet.listen(({ whole }) => {
      if (whole) void this.#load()
    })
    if (fleet.loaded) void this.#load()
    return () => {
      unhear()
      unlisten()
      this.#ids.clear()
      this.#tell()
    }
  }

  /** Takes over an alert as the API answered it. */
  put(alert: Alert): void {
    if (stageOf(alert) === 'open') this.#ids.set(alert.id, alert.severity === 'critical')
    else this.#ids.delete(alert.id)
    this.#tell()
  }

  async #load(): Promise<void> {
    try {
      const { alerts } = await ok(
        api.GET('/api/alerts', { params: { query: { stage: 'open', order: 'desc', limit: most } } })
      )
      this.#ids.clear()
      for (const alert of alerts) this.#ids.set(alert.id, alert.severity === 'critical')
      this.#tell()
    } catch {
      // A number that is not there harms nobody; the page of alerts says what is wrong.
    }
  }

  #apply({ type, data }: Event): void {
    // One that is gone by now has its id alone.
    if (type.startsWith('alert.') && 'alertName' in data) this.put(data as unknown as Alert)
  }

  #tell(): void {
    this.count = this.#ids.size
    this.critical = [...this.#ids.values()].includes(true)
  }
}

export const openAlerts = new OpenAlerts()

/** The number as a badge has room for it. */
export const badge = (count: number): string => (count >= most ? '999+' : String(count))
