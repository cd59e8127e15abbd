// Keeps the severities of devices current: loaded with the fleet, then changed by the event stream.
import { api, ok, type Schemas } from '../api/client'
import { fleet } from './fleet.svelte'
import type { Severities } from './severities'
import type { Event } from './stream'

/** Alerts that are read when the page opens; later ones come by the stream. */
const most = 1000

/** Follows the alerts and calls back after each change, until the returned function is called. */
export function followSeverities(severities: Severities, changed: () => void): () => void {
  let gone = false
  const load = async (): Promise<void> => {
    const lists = await Promise.all(
      (['open', 'acknowledged'] as const).map((stage) =>
        ok(api.GET('/api/alerts', { params: { query: { stage, order: 'desc', limit: most } } }))
      )
    )
    if (gone) return
    severities.clear()
    for (const alert of lists.flatMap(({ alerts }) => alerts)) severities.put(alert)
    changed()
  }
  // Without an answer the map shows no alarms; the alerts page shows the problem.
  const attempt = (): void => void load().catch(() => undefined)
  const unhear = fleet.onEvent(({ type, data }: Event) => {
    if (!type.startsWith('alert.')) return
    if ('alertName' in data) severities.put(data as unknown as Schemas['Alert'])
    else if ('id' in data) severities.forget(String(data.id))
    changed()
  })
  // Events may have been missed before a reload.
  const unlisten = fleet.listen(({ whole }) => {
    if (whole) attempt()
  })
  if (fleet.loaded) attempt()
  return () => {
    gone = true
    unhear()
    unlisten()
  }
}
