// What the history page shows: the track of one device over one range, what was found on it, and how loading goes.
import { isGap, type Track } from '$lib/map/track/track'
import { momentAt, type Moment } from '$lib/map/track/trackAt'
import { readingScale, speedScale, unknownClass } from '$lib/map/track/trackColours'
import { linesOf } from '$lib/map/track/trackLines'
import { stopsOf, totalsOf, type Stop, type Totals } from '$lib/map/track/trackStops'
import { reason } from '$lib/ui/feedback/toast.svelte'
import { loadAlerts, loadTrack, type Alert, type Progress } from './load'
import { Playback } from './playback.svelte'
import type { Range } from '$lib/ui/time/range'
import { seriesOf, unitOf, type Charted } from './series'

export interface Found {
  track: Track
  stops: Stop[]
  totals: Totals
  /** Loading was cancelled before all was there. */
  isPartial: boolean
  /** The same device and range as before: the view of the map stays. */
  isReloaded: boolean
}

export class HistoryView {
  found: Found | null = $state.raw(null)
  alerts: Alert[] = $state.raw([])
  progress: Progress | null = $state.raw(null)
  problem: string | null = $state(null)
  /** The stop or alert that is picked, by `stop-3` or the alert's id. */
  picked: string | null = $state(null)
  /** The charts that are open, whatever is loaded. */
  charts: Charted[] = $state.raw(['speed', 'altitude'])
  /** The reading that the user wants the line to be coloured by, whatever is loaded. */
  wantedColour: Charted = $state('speed')
  /** Locations of the range that came since it was loaded. */
  arrived = $state(0)
  readonly playback = new Playback()

  /** The track, once there is time to draw it. */
  #drawn: Track | null = $state.raw(null)

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
  /** Where the device was at the instant shown. */
  readonly moment: Moment | null = $derived(this.found && momentAt(this.found.track, this.playback.shown))

  #key = ''
  #leave = new AbortController()
  #cancel = new AbortController()

  async load(deviceId: string, range: Range): Promise<void> {
    this.leave()
    const leave = (this.#leave = new AbortController()).signal
    const cancel = (this.#cancel = new AbortController()).signal
    const key = [deviceId, range.from, range.to].join(' ')
    const before = key === this.#key ? this.playback.time : null
    this.#key = ''
    this.#drawn = null
    Object.assign(this, {
      found: null,
      alerts: [],
      problem: null,
      picked: null,
      arrived: 0,
      progress: { done: 0, points: 0 }
    })
    try {
      const alerts = loadAlerts(deviceId, range, leave)
      // The first failure is shown; the other must not become an unhandled rejection.
      alerts.catch(() => undefined)
      const track = await loadTrack(deviceId, range, {
        leave,
        cancel,
        progress: (progress) => (this.progress = progress)
      })
      await breathe()
      const stops = stopsOf(track)
      await breathe()
      if (leave.aborted) return
      const totals = totalsOf(track, stops)
      const found = { track, stops, totals, isPartial: cancel.aborted, isReloaded: before !== null }
      this.playback.reset(track.time[0] ?? range.from, track.time[track.length - 1] ?? range.from, idleOf(found))
      if (before !== null) this.playback.seek(before)
      this.#key = key
      this.found = found
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

  /** Cancels loading and keeps what has arrived. */
  cancel(): void {
    this.#cancel.abort()
  }

  /** Cancels everything: another range or another page was chosen. */
  leave(): void {
    this.#leave.abort()
    this.playback.pause()
  }
}

/** Lets the browser draw and handle input between two pieces of work. */
const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

/** The periods without movement: stops and gaps, merged. */
function idleOf({ track, stops }: Pick<Found, 'track' | 'stops'>): Range[] {
  const spans: Range[] = stops.map(({ from, to }) => ({ from, to }))
  for (let at = 1; at < track.length; at++) {
    if (isGap(track, at)) spans.push({ from: track.time[at - 1]!, to: track.time[at]! })
  }
  spans.sort((a, b) => a.from - b.from)
  const joined: Range[] = []
  for (const span of spans) {
    const last = joined.at(-1)
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to)
    else joined.push({ ...span })
  }
  return joined
}
