// The alerts that are shown: those of a filter, page by page, kept current by the stream.
import { apiQuery, matches, newestFirst, type AlertFilter } from '$lib/alerts/filter'
import { criticalAlerts } from '$lib/alerts/critical.svelte'
import { openAlerts } from '$lib/alerts/open.svelte'
import type { Alert } from '$lib/alerts/names'
import { api, ok } from '$lib/api/client'
import { fleet } from '$lib/live/fleet.svelte'
import type { Event } from '$lib/live/stream'
import { reason } from '$lib/ui/feedback/toast.svelte'

const pageSize = 200
/** Number of parallel requests when several alerts are acknowledged. */
const maxParallel = 4
const batchMs = 200

export class Inbox {
  alerts: Alert[] = $state.raw([])
  loading = $state(false)
  problem: string | null = $state(null)
  /** Whether there is more to load. */
  hasMore = $state(false)
  /** Progress of acknowledging several alerts. */
  done: { count: number; of: number } | null = $state.raw(null)

  #filter: AlertFilter | null = null
  #cursor: string | undefined
  #round = 0
  readonly #arrived: Alert[] = []
  #arrivedWhileLoading: Alert[] = []
  #timer = 0

  /** Shows the alerts of a filter. */
  async show(filter: AlertFilter): Promise<void> {
    this.#filter = filter
    this.alerts = []
    await this.#begin()
  }

  /** Loads from the newest on; the shown alerts stay until the answer arrives. */
  async #begin(): Promise<void> {
    this.#cursor = undefined
    this.#round++
    await this.more()
  }

  /** Loads the next page. */
  async more(): Promise<void> {
    if (!this.#filter) return
    const round = this.#round
    Object.assign(this, { loading: true, problem: null })
    this.#arrivedWhileLoading = []
    try {
      const query = { ...apiQuery(this.#filter), order: 'desc' as const, limit: pageSize, cursor: this.#cursor }
      const page = await ok(api.GET('/api/alerts', { params: { query } }))
      if (round !== this.#round) return
      if (!this.#cursor) this.alerts = []
      this.#cursor = page.nextCursor ?? undefined
      this.hasMore = this.#cursor !== undefined
      this.#merge(page.alerts, true)
      // Events that arrived during the request are newer than its answer.
      this.#merge(this.#arrivedWhileLoading)
    } catch (error) {
      if (round === this.#round) this.problem = reason(error)
    } finally {
      if (round === this.#round) this.loading = false
    }
  }

  follow(): () => void {
    const stopEvents = fleet.onEvent((event) => this.#apply(event))
    // The fleet is reloaded when events may have been missed.
    const stopChanges = fleet.listen(({ whole }) => {
      if (whole && this.alerts.length > 0) void this.#begin()
    })
    return () => {
      stopEvents()
      stopChanges()
    }
  }

  async acknowledge(ids: string[]): Promise<void> {
    await this.#each(ids, (alertId) =>
      ok(api.POST('/api/alerts/{alertId}/acknowledge', { params: { path: { alertId } } }))
    )
  }

  async end(ids: string[]): Promise<void> {
    await this.#each(ids, (alertId) => ok(api.POST('/api/alerts/{alertId}/end', { params: { path: { alertId } } })))
  }

  /** Stores an alert from an API response. */
  put(alert: Alert): void {
    openAlerts.put(alert)
    criticalAlerts.put(alert)
    this.#merge([alert])
  }

  async #each(ids: string[], change: (id: string) => Promise<{ alert: Alert }>): Promise<void> {
    const waiting = [...ids]
    let count = 0
    this.done = { count, of: ids.length }
    const work = async (): Promise<void> => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        this.put((await change(id)).alert)
        this.done = { count: ++count, of: ids.length }
      }
    }
    try {
      await Promise.all(Array.from({ length: maxParallel }, work))
    } finally {
      waiting.length = 0
      this.done = null
    }
  }

  /** Adds alerts; those that no longer match are removed. Alerts from a list of the server are not filtered again. */
  #merge(changed: Alert[], isListed = false): void {
    const filter = this.#filter
    if (!filter) return
    const byId = new Map(this.alerts.map((alert) => [alert.id, alert]))
    for (const alert of changed) {
      const groups = fleet.snapshot.get(alert.deviceId)?.device.groups ?? []
      if (isListed || matches(filter, alert, groups)) byId.set(alert.id, alert)
      else byId.delete(alert.id)
    }
    this.alerts = [...byId.values()].sort(newestFirst)
  }

  /** New alerts are batched: many may arrive at once. */
  #apply({ type, data }: Event): void {
    if (!type.startsWith('alert.') || !('alertName' in data)) return
    this.#arrived.push(data as unknown as Alert)
    this.#timer ||= window.setTimeout(() => {
      this.#timer = 0
      const arrived = this.#arrived.splice(0)
      if (this.loading) this.#arrivedWhileLoading.push(...arrived)
      this.#merge(arrived)
    }, batchMs)
  }
}
