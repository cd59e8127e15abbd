// State of the history page: the track and the timeline of one device in a period, and the progress of loading.
import type { Track } from '$lib/map/track/track'
import { placeReader } from '$lib/map/places/places'
import { momentAt, type Moment } from '$lib/map/track/trackAt'
import { readingScale, speedScale, unknownClass } from '$lib/map/track/trackColours'
import { linesOf } from '$lib/map/track/trackLines'
import { beginOf, endOf, idleOf, loadTimeline, rangeOfSegment, type Segment, type Timeline } from '$lib/trips/segments'
import { reason } from '$lib/ui/feedback/toast.svelte'
import type { Range } from '$lib/ui/time/range'
import { loadAlerts, loadTrack, type Alert, type Progress } from './load'
import { Playback } from './playback.svelte'
import { seriesOf, unitOf, type Charted } from './series'

export interface Found {
  track: Track
  /** Whether loading was cancelled before everything had arrived. */
  isPartial: boolean
  /** Whether device and range are unchanged, so that the map keeps its view. */
  isReloaded: boolean
}

/** Wait before the timeline is requested again while locations are not considered yet; each wait is longer. */
const pendingMs = 1_000
const longestPendingMs = 15_000

export class HistoryView {
  found: Found | null = $state.raw(null)
  /** The timeline of the range. */
  segments: Segment[] = $state.raw([])
  /** Whether stored locations are not in the timeline yet. */
  pending = $state(false)
  alerts: Alert[] = $state.raw([])
  progress: Progress | null = $state.raw(null)
  problem: string | null = $state(null)
  /** The ID of the selected segment or alert, `start` or `end`. */
  picked: string | null = $state(null)
  /** The charts that the user opened, including those without values on the current track. */
  charts: Charted[] = $state.raw(['speed', 'altitude'])
  /** The reading by which the user wants to colour the line; the current track may not have it. */
  wantedColour: Charted = $state('speed')
  /** Number of locations of the range that arrived after it was loaded. */
  arrived = $state(0)
  readonly playback = new Playback()

  /** The track for the map, set after the browser has drawn the rest of the page. */
  #drawn: Track | null = $state.raw(null)

  readonly pickedSegment = $derived(this.segments.find(({ id }) => id === this.picked) ?? null)
  readonly pickedSpan: Range | null = $derived(this.pickedSegment && rangeOfSegment(this.pickedSegment))
  /** The reading that the line is coloured by, of those that the track has. */
  readonly colouredBy: Charted = $derived(
    this.found && seriesOf(this.found.track).includes(this.wantedColour) ? this.wantedColour : 'speed'
  )
  readonly scale = $derived.by(() => {
    const values = this.found?.track[this.colouredBy] ?? []
    const { convert } = unitOf(this.colouredBy)
    return this.colouredBy === 'speed' ? speedScale(values, convert) : readingScale(values, convert)
  })
  readonly lines = $derived.by(() => {
    const { convert } = unitOf(this.colouredBy)
    const classOf = (value: number): number => this.scale.classOf(convert(value))
    return this.#drawn && linesOf(this.#drawn, unknownClass + 1, classOf, this.colouredBy)
  })
  /** The position of the device at the shown instant. */
  readonly moment: Moment | null = $derived(this.found && momentAt(this.found.track, this.playback.shown))

  #key = ''
  #asked: { deviceId: string; range: Range } | null = null
  #leave = new AbortController()
  #cancel = new AbortController()
  #again: ReturnType<typeof setTimeout> | undefined

  async load(deviceId: string, range: Range): Promise<void> {
    this.leave()
    const leave = (this.#leave = new AbortController()).signal
    const cancel = (this.#cancel = new AbortController()).signal
    const key = [deviceId, range.from, range.to].join(' ')
    const before = key === this.#key ? { time: this.playback.time, picked: this.picked } : null
    this.#key = ''
    this.#asked = { deviceId, range }
    this.#drawn = null
    Object.assign(this, {
      found: null,
      segments: [],
      pending: false,
      alerts: [],
      problem: null,
      picked: null,
      arrived: 0,
      progress: { done: 0, points: 0 }
    })
    try {
      const alerts = loadAlerts(deviceId, range, leave)
      const timeline = loadTimeline(deviceId, range, { reader: placeReader(), leave })
      // The first failure is shown; the others must not become unhandled rejections.
      for (const call of [alerts, timeline]) call.catch(() => undefined)
      const track = await loadTrack(deviceId, range, {
        leave,
        cancel,
        progress: (progress) => (this.progress = progress)
      })
      await breathe()
      const { segments, pending } = await timeline
      if (leave.aborted) return
      this.segments = segments
      const { from, to } = spanOf(track, segments) ?? range
      this.playback.reset(from, to, idleOf(segments))
      if (before) {
        this.playback.seek(before.time)
        this.picked = before.picked
      }
      this.#key = key
      this.found = { track, isPartial: cancel.aborted, isReloaded: before !== null }
      this.#follow(pending, pendingMs)
      await breathe()
      if (leave.aborted) return
      this.#drawn = track
      this.alerts = await alerts
    } catch (error) {
      if (!leave.aborted) this.problem = reason(error)
    } finally {
      if (!leave.aborted) this.progress = null
    }
  }

  /** Requests the timeline again, after a trip has changed. */
  async refreshTimeline(wait = pendingMs): Promise<void> {
    const { signal } = this.#leave
    if (!this.#asked || !this.found || signal.aborted) return
    const { deviceId, range } = this.#asked
    try {
      const { segments, pending } = await loadTimeline(deviceId, range, { reader: placeReader(), leave: signal })
      if (signal.aborted) return
      this.#put(segments)
      this.#follow(pending, wait)
    } catch {
      // The shell reports a lost connection; the last timeline stays.
    }
  }

  /** Replaces the labels of a segment by those of an API response. */
  label({ id, name, purpose, note, driver, driverId, driverName, driverSource }: Segment): void {
    const labels = { name, purpose, note, driver, driverId, driverName, driverSource }
    this.segments = this.segments.map((one) => (one.id === id ? { ...one, ...labels } : one))
  }

  /** Cancels loading and keeps what has arrived. */
  cancel(): void {
    this.#cancel.abort()
  }

  /** Cancels everything because another range or page was chosen. */
  leave(): void {
    this.#leave.abort()
    clearTimeout(this.#again)
    this.playback.pause()
  }

  #put(segments: Timeline['segments']): void {
    this.segments = segments
    const span = this.found && spanOf(this.found.track, segments)
    if (span) this.playback.extend(span.from, span.to)
    this.playback.pass(idleOf(segments))
  }

  /** While locations are not considered yet, the timeline is requested again. */
  #follow(pending: boolean, wait: number): void {
    this.pending = pending
    clearTimeout(this.#again)
    if (!pending) return
    const next = Math.min(wait * 1.5, longestPendingMs)
    this.#again = setTimeout(() => void this.refreshTimeline(next), wait)
  }
}

/** Lets the browser draw and handle input between two pieces of work. */
const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

/** The time that the track and the timeline cover; null without either. */
function spanOf({ time, length }: Track, segments: Segment[]): Range | null {
  const times = [
    ...(length > 0 ? [time[0]!, time[length - 1]!] : []),
    ...(segments.length > 0 ? [beginOf(segments[0]!), endOf(segments.at(-1)!)] : [])
  ]
  return times.length > 0 ? { from: Math.min(...times), to: Math.max(...times) } : null
}
