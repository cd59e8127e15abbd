// Maps that the server copies from elsewhere. The list is polled while one is being measured or copied.
import { api, ok, type Schemas } from '$lib/api/client'
import { mapLayers } from '$lib/map/basemap/layers.svelte'

export type FetchedMap = Schemas['OperatorMap']
export type MapInput = Schemas['OperatorMapInput']

const reloadMs = 1_000

export const isBusy = ({ state }: FetchedMap): boolean => state === 'measuring' || state === 'fetching'

/** The part of a map that is copied, in percent; null while that is unknown. */
export function percentOf({ copiedBytes, size }: FetchedMap): number | null {
  if (copiedBytes === null || copiedBytes === undefined || !size) return null
  return size.tileBytes > 0 ? Math.min(100, (copiedBytes / size.tileBytes) * 100) : 100
}

const problems = ['address', 'area', 'unreachable', 'changed', 'not-tiles', 'no-space', 'disk'] as const

/** The message for a problem of a map. */
export function problemMessage(code: string) {
  const known = problems.find((problem) => problem === code)
  return `operator.mapProblem.${known ?? 'disk'}` as const
}

/** The message for the button that continues a map. */
export function nextMessage({ state, file }: FetchedMap) {
  if (state === 'measured') return 'operator.mapFetch'
  if (state === 'ready') return 'operator.mapUpdate'
  return file === null && state === 'failed' ? 'operator.mapRetry' : 'operator.mapResume'
}

const at = (mapId: string) => ({ params: { path: { mapId } } })

export class FetchedMaps {
  list: FetchedMap[] | null = $state.raw(null)
  countries: string[] = $state.raw([])
  defaultSource = $state('')
  #timer = 0
  #gone = false

  async load(): Promise<void> {
    clearTimeout(this.#timer)
    const answer = await ok(api.GET('/api/operator/maps'))
    if (this.#gone) return
    const ready = (maps: FetchedMap[] | null) =>
      maps?.flatMap(({ id, file }) => (file ? [id + file.fetchedAt] : [])).join()
    // A map that became ready, or was deleted, changes the layers of every map of this page.
    if (this.list && ready(this.list) !== ready(answer.maps)) void mapLayers.reload().catch(() => undefined)
    this.list = answer.maps
    this.countries = answer.countries
    this.defaultSource = answer.defaultSource
    if (answer.maps.some(isBusy)) this.#later()
  }

  /** A failed poll is repeated: the list stays as it was. */
  #later(): void {
    this.#timer = window.setTimeout(() => void this.load().catch(() => this.#later()), reloadMs)
  }

  close(): void {
    this.#gone = true
    clearTimeout(this.#timer)
  }

  async create(body: MapInput): Promise<void> {
    await ok(api.POST('/api/operator/maps', { body }))
    await this.load()
  }

  async fetch(id: string): Promise<void> {
    await ok(api.POST('/api/operator/maps/{mapId}/fetch', at(id)))
    await this.load()
  }

  async stop(id: string): Promise<void> {
    await ok(api.POST('/api/operator/maps/{mapId}/stop', at(id)))
    await this.load()
    this.#later()
  }

  async remove(id: string): Promise<void> {
    await ok(api.DELETE('/api/operator/maps/{mapId}', at(id)))
    await this.load()
  }
}
