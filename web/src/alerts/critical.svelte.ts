// The critical alerts that have not ended, open and acknowledged, kept current by the event stream. Banner, title,
// sound, map, lists and panel read them here.
import { api, ok } from '$lib/api/client'
import { fleet } from '$lib/live/fleet.svelte'
import type { Event } from '$lib/live/stream'
import { newestFirst, stageOf } from './filter'
import type { Alert } from './names'
import type { CriticalStage } from './rank'

/** Maximum number of alerts that are loaded for each stage. */
const mostAlerts = 200

class CriticalAlerts {
  /** Newest first. */
  open: Alert[] = $state.raw([])
  acknowledged: Alert[] = $state.raw([])
  /** ID of the alert that was just acknowledged here; a note about it is offered. */
  noteWanted: string | null = $state(null)
  /** The stage of each device with a critical alert; `open` takes precedence. */
  readonly byDevice: ReadonlyMap<string, CriticalStage> = $derived(
    new Map<string, CriticalStage>([
      ...this.acknowledged.map(({ deviceId }) => [deviceId, 'acknowledged'] as const),
      ...this.open.map(({ deviceId }) => [deviceId, 'open'] as const)
    ])
  )
  #loading = false
  /** IDs that events changed while a request was running: the events are newer than its answer. */
  readonly #changed = new Set<string>()

  /** Follows until the returned function is called. */
  follow(): () => void {
    const stopEvents = fleet.onEvent((event) => this.#apply(event))
    // The fleet is reloaded when events may have been missed.
    const stopChanges = fleet.listen(({ whole }) => {
      if (whole) void this.#load()
    })
    void this.#load()
    return () => {
      stopEvents()
      stopChanges()
      this.#show([])
    }
  }

  /** All alerts, open ones first. */
  get all(): Alert[] {
    return [...this.open, ...this.acknowledged]
  }

  /** The alerts of a device, open ones first. */
  of(deviceId: string): Alert[] {
    return this.all.filter((alert) => alert.deviceId === deviceId)
  }

  /** Stores an alert from an API response or an event. */
  put(alert: Alert): void {
    if (this.#loading) this.#changed.add(alert.id)
    const others = this.all.filter(({ id }) => id !== alert.id)
    const isShown = alert.severity === 'critical' && stageOf(alert) !== 'ended'
    if (!isShown && others.length === this.open.length + this.acknowledged.length) return
    this.#show(isShown ? [...others, alert] : others)
  }

  /** Acknowledges an alert; the server records the signed-in user. */
  async acknowledge(alertId: string): Promise<Alert> {
    const { alert } = await ok(api.POST('/api/alerts/{alertId}/acknowledge', { params: { path: { alertId } } }))
    this.put(alert)
    this.noteWanted = alertId
    return alert
  }

  async end(alertId: string): Promise<Alert> {
    const { alert } = await ok(api.POST('/api/alerts/{alertId}/end', { params: { path: { alertId } } }))
    this.put(alert)
    return alert
  }

  async #load(): Promise<void> {
    this.#loading = true
    this.#changed.clear()
    const page = (stage: CriticalStage) =>
      ok(
        api.GET('/api/alerts', {
          params: { query: { severity: 'critical', stage, order: 'desc', limit: mostAlerts } }
        })
      )
    try {
      const [open, acknowledged] = await Promise.all([page('open'), page('acknowledged')])
      const loaded = [...open.alerts, ...acknowledged.alerts].filter(({ id }) => !this.#changed.has(id))
      this.#show([...loaded, ...this.all.filter(({ id }) => this.#changed.has(id))])
    } catch {
      // The known alerts stay; the shell shows a lost connection, and the fleet reloads when it is back.
    } finally {
      this.#loading = false
    }
  }

  #apply({ type, data }: Event): void {
    if (!type.startsWith('alert.')) return
    if ('alertName' in data) this.put(data as unknown as Alert)
    // A deleted alert has only an id.
    else this.#show(this.all.filter(({ id }) => id !== (data as { id?: string }).id))
  }

  #show(alerts: Alert[]): void {
    const sorted = alerts.sort(newestFirst)
    this.open = sorted.filter((alert) => stageOf(alert) === 'open')
    this.acknowledged = sorted.filter((alert) => stageOf(alert) === 'acknowledged')
  }
}

export const criticalAlerts = new CriticalAlerts()
