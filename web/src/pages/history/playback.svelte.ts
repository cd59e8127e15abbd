// The time shown on a track: the playback position, or the position under the pointer.

/** How fast a track is played: a multiple of real time, or so that all of it takes some seconds. */
export type Pace = { times: number } | { seconds: number }

export const paces: readonly Pace[] = [
  { times: 1 },
  { times: 16 },
  { times: 64 },
  { times: 1440 },
  { seconds: 300 },
  { seconds: 60 },
  { seconds: 15 }
]
const usual = 5

export class Playback {
  /** Milliseconds. */
  time = $state(0)
  /** Where the pointer rests on a chart. */
  peek: number | null = $state(null)
  playing = $state(false)
  /** The index of the pace that is chosen. */
  pace = $state(usual)
  /** Whether the map follows the device. */
  follows = $state(false)
  /** Whether stops and gaps are skipped. */
  skips = $state(true)
  from = $state(0)
  to = $state(0)
  /** The periods that are skipped, ascending. */
  #idle: { from: number; to: number }[] = []
  #frame = 0
  #before = 0

  /** How many milliseconds of the track pass in one. */
  get rate(): number {
    const pace = paces[this.pace] ?? { times: 1 }
    return 'times' in pace ? pace.times : Math.max(1, this.#playedMillis() / (pace.seconds * 1000))
  }

  /** The length of what is played: without stops and gaps if they are skipped. */
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
    this.#idle = idle
  }

  /** Makes room for another track on the same clock. Stops are played then: the other may move meanwhile. */
  widen(from: number, to: number): void {
    this.from = Math.min(this.from, from)
    this.to = Math.max(this.to, to)
    this.#idle = []
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
    this.seek(this.#passOver(this.time + passed * this.rate))
    if (this.time >= this.to) this.pause()
    else this.#frame = requestAnimationFrame(this.#step)
  }

  #passOver(time: number): number {
    return this.skips ? passOver(this.#idle, time) : time
  }
}

/** The end of the span that an instant lies within, else the instant. */
export function passOver(spans: { from: number; to: number }[], time: number): number {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (spans[middle]!.from <= time) low = middle + 1
    else high = middle
  }
  const span = spans[low - 1]
  return span && time < span.to ? span.to : time
}
