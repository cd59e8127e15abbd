// The time shown on a track: the playback position, or the position under the pointer.

/** Rates of playback: a multiple of real time, or such that the whole track takes some seconds. */
export type Rate = { times: number } | { seconds: number }

export const rates: readonly Rate[] = [
  { times: 1 },
  { times: 16 },
  { times: 64 },
  { times: 1440 },
  { seconds: 300 },
  { seconds: 60 },
  { seconds: 15 }
]
const usualRate = 5

export class Playback {
  /** Milliseconds. */
  time = $state(0)
  /** The instant under the pointer on a chart. */
  peek: number | null = $state(null)
  playing = $state(false)
  /** Index of the selected rate in `rates`. */
  rateIndex = $state(usualRate)
  /** Whether the map follows the device. */
  follows = $state(false)
  /** Whether stops and gaps are skipped. */
  skips = $state(true)
  from = $state(0)
  to = $state(0)
  /** The periods that are skipped, ascending. */
  #idle: { from: number; to: number }[] = []
  /** Whether another track is played too, so that nothing is skipped. */
  #isShared = false
  #frame = 0
  #before = 0

  /** Milliseconds of the track that pass in one millisecond. */
  get rate(): number {
    const chosen = rates[this.rateIndex] ?? { times: 1 }
    return 'times' in chosen ? chosen.times : Math.max(1, this.#playedMillis() / (chosen.seconds * 1000))
  }

  /** The duration of playback: without stops and gaps if they are skipped. */
  #playedMillis(): number {
    const idle = this.skips ? this.#idle.reduce((sum, { from, to }) => sum + to - from, 0) : 0
    return this.to - this.from - idle
  }

  /** The time shown now. */
  get shown(): number {
    return this.peek ?? this.time
  }

  /** Starts again with another track. */
  reset(from: number, to: number, idle: { from: number; to: number }[]): void {
    this.pause()
    Object.assign(this, { from, to, time: from, peek: null })
    this.#isShared = false
    this.#idle = idle
  }

  /** Extends the playback, for segments that were found later. */
  extend(from: number, to: number): void {
    this.from = Math.min(this.from, from)
    this.to = Math.max(this.to, to)
  }

  /** Extends the playback for another track. Stops are then played, because the other device may move. */
  widen(from: number, to: number): void {
    this.extend(from, to)
    this.#isShared = true
    this.#idle = []
  }

  /** Replaces the periods that are skipped. */
  pass(idle: { from: number; to: number }[]): void {
    if (!this.#isShared) this.#idle = idle
  }

  seek(time: number): void {
    this.time = Math.min(this.to, Math.max(this.from, time))
    this.peek = null
  }

  toggle(): void {
    if (this.playing) this.pause()
    else this.play()
  }

  play(): void {
    if (this.to <= this.from) return
    if (this.time >= this.to) this.time = this.from
    this.peek = null
    this.playing = true
    this.#before = performance.now()
    this.#frame = requestAnimationFrame(this.#step)
  }

  pause(): void {
    this.playing = false
    cancelAnimationFrame(this.#frame)
  }

  readonly #step = (now: number): void => {
    // After time in a background tab, playback continues where it was.
    const passed = Math.min(Math.max(0, now - this.#before), 250)
    this.#before = now
    this.seek(this.#skipIdle(this.time + passed * this.rate))
    if (this.time >= this.to) this.pause()
    else this.#frame = requestAnimationFrame(this.#step)
  }

  #skipIdle(time: number): number {
    return this.skips ? skipSpans(this.#idle, time) : time
  }
}

/** The end of the span that contains an instant, else the instant. */
export function skipSpans(spans: { from: number; to: number }[], time: number): number {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (spans[middle]!.from <= time) low = middle + 1
    else high = middle
  }
  const span = spans[low - 1]
  return span && time < span.to ? span.to : time
}
