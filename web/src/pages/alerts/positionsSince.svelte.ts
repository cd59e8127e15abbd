// Positions of the device of an alert since the alert, until it ended; extended while the device reports.
import type { Alert } from '$lib/alerts/names'
import { api, ok, type Schemas } from '$lib/api/client'
import { fleet } from '$lib/live/fleet.svelte'
import { Loader } from '$lib/ui/list/loader.svelte'

export type Since = Required<Pick<Schemas['Location'], 'dateTime' | 'latitude' | 'longitude'>> &
  Pick<Schemas['Location'], 'speed' | 'course' | 'battery' | 'suspect'>

/** Maximum number that is shown; the history page has all. */
export const mostSince = 100
const fields = 'dateTime,latitude,longitude,speed,course,battery,suspect'

export class PositionsSince {
  readonly #loader: Loader<string, Since[]>
  #arrived: { alert: string; position: Since }[] = $state.raw([])

  /** Create it while a component is created. */
  constructor(private readonly alert: () => Alert | undefined) {
    const key = $derived(alert()?.id)
    this.#loader = new Loader(
      () => key,
      async () => {
        const known = alert()
        return known ? load(known) : []
      }
    )
    $effect(() =>
      fleet.onEvent(({ type, device, data }) => {
        const known = this.alert()
        if (type !== 'location.created' || !known || known.endedAt || device !== known.deviceId) return
        const position = data as unknown as Since
        if (Date.parse(position.dateTime) >= Date.parse(known.dateTime)) {
          this.#arrived = [...this.#arrived.slice(-mostSince), { alert: known.id, position }]
        }
      })
    )
  }

  /** Newest first. */
  get positions(): Since[] {
    const id = this.alert()?.id
    const live = this.#arrived.flatMap(({ alert, position }) => (alert === id ? [position] : []))
    const byTime = new Map([...(this.#loader.value ?? []), ...live].map((position) => [position.dateTime, position]))
    return [...byTime.values()]
      .filter(({ suspect }) => !suspect)
      .sort((a, b) => Date.parse(b.dateTime) - Date.parse(a.dateTime))
      .slice(0, mostSince)
  }

  get problem(): string | null {
    return this.#loader.problem
  }
}

async function load({ deviceId, dateTime, endedAt }: Alert): Promise<Since[]> {
  const query = { from: dateTime, to: endedAt ?? undefined, order: 'desc' as const, limit: mostSince, fields }
  const answer = await ok(api.GET('/api/devices/{deviceId}/locations', { params: { path: { deviceId }, query } }))
  return (answer as unknown as { locations: Since[] }).locations
}
