// What a share link shows, asked for again and again; and why it shows nothing any more.
import { address, ok, Problem, type Schemas } from '../../api/client'
import { endOf, type End } from './ends'
import { addTrails, trailSince, type SharedThing } from './trails'

export type State = 'loading' | 'live' | 'unreachable' | End
type View = Schemas['SharedView']

const every = 5_000
const longestWait = 60_000

export class SharedWatch {
  state: State = $state('loading')
  view: View | null = $state.raw(null)
  things: SharedThing[] = $state.raw([])
  #timer = 0
  #wait = every
  #isClosed = false
  #isBusy = false
  #knowsTrails = true

  constructor(private readonly secret: string) {
    document.addEventListener('visibilitychange', this.#look)
    addEventListener('online', this.#look)
    void this.#ask()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    document.removeEventListener('visibilitychange', this.#look)
    removeEventListener('online', this.#look)
  }

  /** Asks now: somebody looks, or pressed a button. */
  retry(): void {
    clearTimeout(this.#timer)
    this.#wait = every
    void this.#ask()
  }

  readonly #look = (): void => {
    if (!document.hidden && ['live', 'unreachable', 'waiting'].includes(this.state)) this.retry()
  }

  async #ask(): Promise<void> {
    if (this.#isClosed || this.#isBusy) return
    this.#isBusy = true
    try {
      const view = await this.#fetch()
      if (this.#isClosed) return
      this.view = view
      this.things = addTrails(this.things, view.devices)
      this.#wait = every
      this.state = Date.parse(view.from) > Date.now() ? 'waiting' : 'live'
    } catch (error) {
      if (this.#isClosed) return
      if (this.#ended(error)) return
    } finally {
      this.#isBusy = false
    }
    // Nobody looks at a hidden page; it asks when it is shown again.
    if (!document.hidden) this.#timer = window.setTimeout(() => void this.#ask(), this.#wait)
  }

  async #fetch(): Promise<View> {
    const url = address(`/api/shared/${encodeURIComponent(this.secret)}`)
    if (!this.#knowsTrails) return ok<View>(read(url))
    const query = new URLSearchParams({ trail: trailSince(this.things) })
    // Only the first time is an opening.
    if (this.view) query.set('again', 'true')
    try {
      return await ok<View>(read(`${url}?${query}`))
    } catch (error) {
      // A server of before refuses what it does not know: the trail is then what is seen from now on.
      if (!(error instanceof Problem) || error.status !== 400) throw error
      this.#knowsTrails = false
      return this.#fetch()
    }
  }

  /** Whether the link is over; else it is tried again, later each time. */
  #ended(error: unknown): boolean {
    const problem = error instanceof Problem ? error : null
    if (problem && (problem.status === 404 || problem.status === 410)) {
      this.state = endOf(problem.code, this.view?.until, Date.now())
      return this.state !== 'waiting'
    }
    this.#wait = Math.min(longestWait, this.#wait * 2)
    this.state = 'unreachable'
    return false
  }
}

async function read(url: string): Promise<{ data?: View; error?: unknown; response: Response }> {
  const response = await fetch(url, { cache: 'no-store' })
  const body: unknown = await response.json().catch(() => undefined)
  return response.ok ? { data: body as View, response } : { error: body, response }
}
