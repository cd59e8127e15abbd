// The watch over the event stream: pings keep a quiet connection alive, and silence ends it soon.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

vi.hoisted(() => vi.stubGlobal('document', { baseURI: 'https://track.example.com/' }))

const { Stream } = await import('$lib/live/stream')

/** A connection whose messages the test sends. */
class Source {
  static opened: Source[] = []
  onopen: () => void = () => undefined
  onmessage: (message: { lastEventId: string; data: string }) => void = () => undefined
  onerror: () => void = () => undefined
  isClosed = false
  #ping: (message: { lastEventId: string }) => void = () => undefined

  constructor(readonly url: string) {
    Source.opened.push(this)
  }
  addEventListener(name: string, listener: (message: { lastEventId: string }) => void): void {
    if (name === 'ping') this.#ping = listener
  }
  ping(lastEventId: string): void {
    if (!this.isClosed) this.#ping({ lastEventId })
  }
  close(): void {
    this.isClosed = true
  }
}

const states: string[] = []
const handlers = {
  event: () => undefined,
  connection: (state: string) => states.push(state),
  expired: () => states.push('expired')
}
const newest = (): Source => Source.opened.at(-1)!
let stream: InstanceType<typeof Stream>

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('EventSource', Source)
  vi.stubGlobal('window', globalThis)
  vi.stubGlobal('addEventListener', () => undefined)
  vi.stubGlobal('removeEventListener', () => undefined)
  states.length = 0
  Source.opened.length = 0
  stream = new Stream('first', handlers)
  newest().onopen()
})
afterEach(() => {
  stream.close()
  vi.useRealTimers()
})

test('an account without events for three minutes stays connected', () => {
  const every = 1_000 * Number(new URL(newest().url).searchParams.get('pingInterval'))
  expect(every).toBeGreaterThan(0)
  for (let passed = 0; passed < 180_000; passed += every) {
    vi.advanceTimersByTime(every)
    newest().ping('later')
  }
  expect(states).toEqual(['live'])
  expect(Source.opened).toHaveLength(1)
})

test('a server that hangs is noticed within ten seconds, and asked again', async () => {
  const fetched = vi.fn((_url: string, { signal }: RequestInit) => {
    return new Promise<Response>((_, refuse) => signal!.addEventListener('abort', () => refuse(new Error('timeout'))))
  })
  vi.stubGlobal('fetch', fetched)
  newest().ping('moved')
  vi.advanceTimersByTime(9_999)
  expect(states).toEqual(['live', 'lost'])
  expect(newest().isClosed).toBe(true)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(fetched).toHaveBeenCalledOnce()
  expect(fetched.mock.calls[0]![0]).toContain('cursor=moved')
})

test('a server that does not answer a new stream is noticed too', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('{}')))
  newest().onerror()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(Source.opened).toHaveLength(2)
  states.length = 0
  await vi.advanceTimersByTimeAsync(9_000)
  expect(states).toEqual(['lost'])
})

test('a page that slept reads what arrived before it calls the connection lost', () => {
  vi.setSystemTime(Date.now() + 60_000)
  vi.advanceTimersByTime(8_000)
  expect(states).toEqual(['live'])
  newest().ping('later')
  vi.advanceTimersByTime(7_000)
  expect(states).toEqual(['live'])
})

test('a closed stream does not connect again', async () => {
  let answer: (response: Response) => void = () => undefined
  vi.stubGlobal('fetch', () => new Promise<Response>((resolve) => (answer = resolve)))
  newest().onerror()
  await vi.advanceTimersByTimeAsync(2_000)
  stream.close()
  answer(new Response('{}'))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(Source.opened).toHaveLength(1)
})
