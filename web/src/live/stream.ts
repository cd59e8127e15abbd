// The server's event stream: reconnects at its cursor and reports the state of the connection.
import { address, type Schemas } from '$lib/api/client'

export type Event = Schemas['Event']
export type Connection = 'connecting' | 'live' | 'lost'

interface Handlers {
  event: (event: Event) => void
  connection: (connection: Connection) => void
  /** The cursor is too old or the session has ended: everything must be reloaded. */
  expired: () => void
}

const firstWait = 1_000
const longestWait = 30_000
/** The server writes at least every 15 seconds; after more than twice that the connection is dead. */
const silence = 35_000

export class Stream {
  #source: EventSource | null = null
  #cursor: string
  #wait = firstWait
  #retry = 0
  #watch = 0

  constructor(
    cursor: string,
    private readonly handlers: Handlers
  ) {
    this.#cursor = cursor
    addEventListener('online', this.#now)
    addEventListener('offline', this.#lost)
    this.#connect()
  }

  close(): void {
    removeEventListener('online', this.#now)
    removeEventListener('offline', this.#lost)
    clearTimeout(this.#retry)
    clearTimeout(this.#watch)
    this.#source?.close()
  }

  #connect(): void {
    this.handlers.connection('connecting')
    const source = new EventSource(address(`/api/stream?cursor=${encodeURIComponent(this.#cursor)}`))
    this.#source = source
    source.onopen = () => {
      this.#wait = firstWait
      this.handlers.connection('live')
      this.#heard()
    }
    source.onmessage = (message) => {
      if (message.lastEventId) this.#cursor = message.lastEventId
      this.#heard()
      this.handlers.event(JSON.parse(message.data as string) as Event)
    }
    source.onerror = () => this.#failed()
  }

  /** EventSource could reconnect by itself, but it neither gives the reason nor backs off. */
  #failed(): void {
    this.#source?.close()
    this.handlers.connection('lost')
    clearTimeout(this.#retry)
    this.#retry = window.setTimeout(() => void this.#again(), this.#wait * (0.75 + Math.random() / 2))
    this.#wait = Math.min(this.#wait * 2, longestWait)
  }

  async #again(): Promise<void> {
    try {
      const answer = await fetch(address(`/api/events?limit=1&cursor=${encodeURIComponent(this.#cursor)}`))
      if (answer.status === 410 || answer.status === 401 || answer.status === 400) return this.handlers.expired()
      if (!answer.ok) return this.#failed()
    } catch {
      return this.#failed()
    }
    this.#connect()
  }

  #heard(): void {
    clearTimeout(this.#watch)
    this.#watch = window.setTimeout(() => this.#failed(), silence)
  }

  readonly #now = (): void => {
    clearTimeout(this.#retry)
    void this.#again()
  }

  readonly #lost = (): void => {
    this.#failed()
  }
}
