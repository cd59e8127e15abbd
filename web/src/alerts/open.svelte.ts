// The number of open alerts, kept current by the event stream.
import { api, ok, type Schemas } from '../api/client'
import { fleet } from '../live/fleet.svelte'
import type { Event } from '../live/stream'
import { stageOf } from './filter'

type Alert = Schemas['Alert']

/** Counts up to this number; the badge shows a plus beyond it. */
const most = 1000

class OpenAlerts {
  count = $state(0)
  /** Whether any of them is critical. */
  critical = $state(false)
  readonly #ids = new Map<string, boolean>()

  /** Counts, and keeps counting until the returned function is called. */
  follow(): () => void {
    const unhear = fleet.onEvent((event) => this.#apply(event))
    // Reloaded with the fleet: events may have been missed before that.
    const unlisten = fleet.listen(({ whole }) => {
      if (whole) void this.#load()
    })
    if (fleet.loaded) void this.#load()
    return () => {
      unhear()
      unlisten()
      this.#ids.clear()
      this.#notify()
    }
  }

  /** Stores an alert from an API response. */
  put(alert: Alert): void {
    if (stageOf(alert) === 'open') this.#ids.set(alert.id, alert.severity === 'critical')
    else this.#ids.delete(alert.id)
    this.#notify()
  }

  async #load(): Promise<void> {
    try {
      const { alerts } = await ok(
        api.GET('/api/alerts', { params: { query: { stage: 'open', order: 'desc', limit: most } } })
      )
      this.#ids.clear()
      for (const alert of alerts) this.#ids.set(alert.id, alert.severity === 'critical')
      this.#notify()
    } catch {
      // The badge stays empty; the alerts page shows the problem.
    }
  }

  #apply({ type, data }: Event): void {
    // A deleted alert has only an id.
    if (type.startsWith('alert.') && 'alertName' in data) this.put(data as unknown as Alert)
  }

  #notify(): void {
    this.count = this.#ids.size
    this.critical = [...this.#ids.values()].includes(true)
  }
}

export const openAlerts = new OpenAlerts()

/** The number as shown on the badge. */
export const badge = (count: number): string => (count >= most ? '999+' : String(count))
