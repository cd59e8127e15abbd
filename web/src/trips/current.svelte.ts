// What a device does at present: the open segment of its timeline, kept current by events.
import { api, isProblem, ok } from '$lib/api/client'
import { fleet } from '$lib/live/fleet.svelte'
import { beginOf, loadTimeline, type Segment } from './segments'

/** A trip grows without events: while locations arrive it is requested again this often, in milliseconds. */
const growEveryMs = 10_000
/** Wait after an event, so that several at once cause one request. */
const gatherMs = 1_000
/** Wait while stored locations are not considered yet. */
const pendingMs = 2_000
/** How far before the last location the timeline is requested, in milliseconds: the open segment is cut to it. */
const lookBackMs = 60_000

export class CurrentSegment {
  /** Null if it is not known, or the device has none. */
  segment: Segment | null = $state.raw(null)
  #timer: ReturnType<typeof setTimeout> | undefined
  #due = Infinity
  #leave = new AbortController()
  readonly #unlisten: () => void

  constructor(private readonly deviceId: string) {
    this.#unlisten = fleet.onEvent(({ type, device }) => {
      if (device !== deviceId) return
      if (type.startsWith('trip.')) this.#soon(gatherMs)
      else if (type === 'location.created') this.#soon(growEveryMs)
    })
    this.#soon(0)
  }

  close(): void {
    this.#unlisten()
    this.#leave.abort()
    clearTimeout(this.#timer)
  }

  /** Requests the segment after a wait, unless that is due earlier already. */
  #soon(wait: number): void {
    const due = Date.now() + wait
    if (due >= this.#due) return
    this.#due = due
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#load(), wait)
  }

  async #load(): Promise<void> {
    this.#due = Infinity
    const last = fleet.snapshot.get(this.deviceId)?.location
    if (!last) return
    const { signal } = this.#leave
    try {
      const at = Date.parse(last.dateTime)
      const { segments, pending } = await loadTimeline(
        this.deviceId,
        { from: at - lookBackMs, to: at + lookBackMs },
        { leave: signal }
      )
      const open = segments.findLast((segment) => segment.open) ?? null
      const isCut = open && beginOf(open) <= at - lookBackMs
      const whole = isCut ? await this.#whole(open.id) : open
      if (signal.aborted) return
      this.segment = whole
      if (pending) this.#soon(pendingMs)
    } catch (error) {
      // A segment may be replaced between both requests.
      if (isProblem(error, 'not-found') && !signal.aborted) this.#soon(pendingMs)
    }
  }

  #whole(segmentId: string): Promise<Segment> {
    const params = { path: { segmentId } }
    return ok(api.GET('/api/segments/{segmentId}', { params, signal: this.#leave.signal }))
  }
}
