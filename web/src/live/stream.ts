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
/** Seconds without events after which the server sends a ping. */
const pingInterval = 3
/** Milliseconds without events and pings after which the connection is dead: two pings are missing. */
const silence = 8_000
/** A timer this late means that the page slept or was busy: what arrived meanwhile is read first. */
const late = 1_000

export class Stream {
  #source: EventSource | null = null
  #cursor: string
  #wait = firstWait
  #retry = 0
  #watch = 0
  #closed = false

  constructor(
    cursor: string,
    private readonly handlers: Handlers
  ) {
    this.#cursor = cursor
    addEventListener('online', this.#reconnectNow)
    addEventListener('offline', this.#onOffline)
    this.#connect()
  }

  close(): void {
    this.#closed = true
    removeEventListener('online', this.#reconnectNow)
    removeEventListener('offline', this.#onOffline)
    clearTimeout(this.#retry)
    clearTimeout(this.#watch)
    this.#source?.close()
  }

  #connect(): void {
    const cursor = encodeURIComponent(this.#cursor)
    const source = new EventSource(address(`/api/stream?pingInterval=${pingInterval}&cursor=${cursor}`))
    this.#source = source
    // A server that hangs neither opens nor refuses the stream.
    this.#restartWatchdog()
    source.onopen = () => {
      this.#wait = firstWait
      this.handlers.connection('live')
      this.#restartWatchdog()
    }
    source.onmessage = (message) => {
      if (message.lastEventId) this.#cursor = message.lastEventId
      this.#restartWatchdog()
      this.handlers.event(JSON.parse(message.data as string) as Event)
    }
    source.addEventListener('ping', (message) => {
      if (message.lastEventId) this.#cursor = message.lastEventId
      this.#restartWatchdog()
    })
    source.onerror = () => this.#reconnectLater()
  }

  /** EventSource could reconnect by itself, but it neither gives the reason nor backs off. */
  #reconnectLater(): void {
    if (this.#closed) return
    this.#source?.close()
    clearTimeout(this.#watch)
    this.handlers.connection('lost')
    clearTimeout(this.#retry)
    this.#retry = window.setTimeout(() => void this.#reconnect(), this.#wait * (0.75 + Math.random() / 2))
    this.#wait = Math.min(this.#wait * 2, longestWait)
  }

  async #reconnect(): Promise<void> {
    try {
      const answer = await fetch(address(`/api/events?limit=1&cursor=${encodeURIComponent(this.#cursor)}`), {
        signal: AbortSignal.timeout(silence)
      })
      if (this.#closed) return
      if (answer.status === 410 || answer.status === 401 || answer.status === 400) return this.handlers.expired()
      if (!answer.ok) return this.#reconnectLater()
    } catch {
      return this.#reconnectLater()
    }
    this.#connect()
  }

  #restartWatchdog(): void {
    this.#failIn(silence)
  }

  #failIn(milliseconds: number): void {
    clearTimeout(this.#watch)
    const due = Date.now() + milliseconds
    this.#watch = window.setTimeout(() => {
      if (Date.now() > due + late) this.#failIn(pingInterval * 1_000)
      else this.#reconnectLater()
    }, milliseconds)
  }

  readonly #reconnectNow = (): void => {
    clearTimeout(this.#retry)
    void this.#reconnect()
  }

  readonly #onOffline = (): void => {
    this.#reconnectLater()
  }
}
