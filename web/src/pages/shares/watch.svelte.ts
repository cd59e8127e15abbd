// Polls a share link, and finds out why it stopped showing positions.
import { address, isProblem, ok, type Schemas } from '$lib/api/client'
import { placeReader } from '$lib/map/places/places'
import { endOf, type End } from './linkEnd'
import { addTrails, trailSince, type SharedDevice } from './trails'

export type State = 'loading' | 'live' | 'unreachable' | End
type View = Schemas['SharedView']

export type SharedTrip = Schemas['SharedTrip']
export type SharedText = Schemas['SharedText']

const reloadMs = 5_000
const tripsMs = 60_000
const longestWaitMs = 60_000

export class SharedWatch {
  state: State = $state('loading')
  view: View | null = $state.raw(null)
  devices: SharedDevice[] = $state.raw([])
  /** The trips of each device, if the link shows them. */
  trips: ReadonlyMap<string, SharedTrip[]> = $state.raw(new Map())
  /** The messages of each device, if the link shows conversations. */
  texts: ReadonlyMap<string, SharedText[]> = $state.raw(new Map())
  #tripsAt = 0
  #timer = 0
  #wait = reloadMs
  #isClosed = false
  #isBusy = false

  constructor(private readonly secret: string) {
    document.addEventListener('visibilitychange', this.#onVisible)
    addEventListener('online', this.#onVisible)
    void this.#poll()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    document.removeEventListener('visibilitychange', this.#onVisible)
    removeEventListener('online', this.#onVisible)
  }

  /** Polls immediately: the page became visible, or the user asked. */
  retry(): void {
    clearTimeout(this.#timer)
    this.#wait = reloadMs
    void this.#poll()
  }

  readonly #onVisible = (): void => {
    if (!document.hidden && (this.state === 'live' || this.state === 'unreachable')) this.retry()
  }

  async #poll(): Promise<void> {
    if (this.#isClosed || this.#isBusy) return
    this.#isBusy = true
    try {
      const view = await this.#fetch()
      if (this.#isClosed) return
      this.view = view
      this.devices = addTrails(this.devices, view.devices)
      if (view.devices.some(({ trips }) => trips)) {
        this.trips = new Map(view.devices.map(({ key, trips }) => [key, trips ?? []]))
        this.#tripsAt = Date.now()
      }
      if (view.devices.some(({ conversation }) => conversation)) {
        this.texts = new Map(view.devices.map(({ key, conversation }) => [key, conversation ?? []]))
      }
      this.#wait = reloadMs
      this.state = 'live'
    } catch (error) {
      if (this.#isClosed) return
      if (this.#handleFailure(error)) return
    } finally {
      this.#isBusy = false
    }
    // A hidden page does not poll; it polls again when it is shown.
    if (!document.hidden) this.#timer = window.setTimeout(() => void this.#poll(), this.#wait)
  }

  async #fetch(): Promise<View> {
    const { language, units } = placeReader()
    const query = new URLSearchParams({ trail: trailSince(this.devices), place: 'true', language, units })
    // Only the first request counts as an opening of the link.
    if (this.view) query.set('again', 'true')
    // Trips change slowly, and are read each minute.
    if (Date.now() - this.#tripsAt >= tripsMs) query.set('trips', 'true')
    query.set('conversation', 'true')
    return ok<View>(read(address(`/api/shared/${encodeURIComponent(this.secret)}?${query}`)))
  }

  /** Whether the link has ended; any other failure is tried again, with a longer wait each time. */
  #handleFailure(error: unknown): boolean {
    if (isProblem(error, 'not-found')) {
      this.state = endOf(this.view?.until, Date.now())
      return true
    }
    this.#wait = Math.min(longestWaitMs, this.#wait * 2)
    this.state = 'unreachable'
    return false
  }
}

async function read(url: string): Promise<{ data?: View; error?: unknown; response: Response }> {
  const response = await fetch(url, { cache: 'no-store' })
  const body: unknown = await response.json().catch(() => undefined)
  return response.ok ? { data: body as View, response } : { error: body, response }
}
