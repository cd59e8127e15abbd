// The number of open alerts and the worst alert of each device, kept current by the event stream.
import { api, ok, type Schemas } from '$lib/api/client'
import { fleet } from '$lib/live/fleet.svelte'
import { Severities, type Severity } from '$lib/live/severities'
import type { Event } from '$lib/live/stream'
import { stageOf } from './filter'

type Alert = Schemas['Alert']

/** Maximum that is counted; the badge shows a plus beyond it. */
const mostAlerts = 1000

class OpenAlerts {
  count = $state(0)
  /** Whether any open alert is critical. */
  critical = $state(false)
  readonly #ids = new Map<string, boolean>()
  /** The severities of alerts that have not ended, open and acknowledged. */
  readonly #severities = new Severities()
  readonly #listeners = new Set<() => void>()

  /** Counts, and keeps counting until the returned function is called. */
  follow(): () => void {
    const stopEvents = fleet.onEvent((event) => this.#apply(event))
    // The fleet is reloaded when events may have been missed.
    const stopChanges = fleet.listen(({ whole }) => {
      if (whole) void this.#load()
    })
    if (fleet.loaded) void this.#load()
    return () => {
      stopEvents()
      stopChanges()
      this.#ids.clear()
      this.#severities.clear()
      this.#notify()
    }
  }

  /** The worst severity of a device's alerts that have not ended. */
  worstOf(deviceId: string): Severity | null {
    return this.#severities.worstOf(deviceId)
  }

  /** Calls back after each change until the returned function is called. */
  listen(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  /** Stores an alert from an API response. */
  put(alert: Alert): void {
    if (stageOf(alert) === 'open') this.#ids.set(alert.id, alert.severity === 'critical')
    else this.#ids.delete(alert.id)
    this.#severities.put(alert)
    this.#notify()
  }

  async #load(): Promise<void> {
    try {
      const page = (stage: 'open' | 'acknowledged') =>
        ok(api.GET('/api/alerts', { params: { query: { stage, order: 'desc', limit: mostAlerts } } }))
      const [open, acknowledged] = await Promise.all([page('open'), page('acknowledged')])
      this.#ids.clear()
      this.#severities.clear()
      for (const alert of open.alerts) this.#ids.set(alert.id, alert.severity === 'critical')
      for (const alert of [...open.alerts, ...acknowledged.alerts]) this.#severities.put(alert)
      this.#notify()
    } catch {
      // The badge stays as it is; the alerts page shows the problem.
    }
  }

  #apply({ type, data }: Event): void {
    if (!type.startsWith('alert.')) return
    if ('alertName' in data) this.put(data as unknown as Alert)
    else if ('id' in data) this.#removeAlert(String(data.id))
  }

  /** Removes a deleted alert, whose event has only its ID. */
  #removeAlert(id: string): void {
    this.#ids.delete(id)
    this.#severities.forget(id)
    this.#notify()
  }

  #notify(): void {
    this.count = this.#ids.size
    this.critical = [...this.#ids.values()].includes(true)
    for (const changed of this.#listeners) changed()
  }
}

export const openAlerts = new OpenAlerts()

/** The number as shown on the badge. */
export const badge = (count: number): string => (count >= mostAlerts ? '999+' : String(count))
