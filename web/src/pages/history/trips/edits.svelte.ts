// Trips that users divided and joined: the edits of a device, making one, and undoing it.
import { api, ok, type Schemas } from '$lib/api/client'
import type { Segment } from '$lib/trips/segments'
import { beginOf, endOf } from '$lib/trips/segments'
import type { Range } from '$lib/ui/time/range'

export type TimelineEdit = Schemas['TimelineEdit']

export class TimelineEdits {
  all: TimelineEdit[] = $state.raw([])
  #device = ''

  async load(deviceId: string): Promise<void> {
    if (deviceId !== this.#device) this.all = []
    this.#device = deviceId
    const { edits } = await ok(api.GET('/api/devices/{deviceId}/timelineEdits', { params: { path: { deviceId } } }))
    if (deviceId === this.#device) this.all = edits
  }

  /** Divides a trip at an instant within it. */
  async split(trip: Segment, at: number): Promise<void> {
    const params = { path: { segmentId: trip.id } }
    const body = { at: new Date(at).toISOString() }
    this.#put(await ok(api.POST('/api/segments/{segmentId}/split', { params, body })))
  }

  /** Joins trips and everything between them. */
  async merge(trips: Segment[]): Promise<void> {
    const body = { segments: trips.map(({ id }) => id) }
    this.#put(await ok(api.POST('/api/segments/merge', { body })))
  }

  async undo({ id }: TimelineEdit): Promise<void> {
    await ok(api.DELETE('/api/timelineEdits/{editId}', { params: { path: { editId: id } } }))
    this.all = this.all.filter((edit) => edit.id !== id)
  }

  /** The edits that touch a period. */
  within({ from, to }: Range): TimelineEdit[] {
    return this.all.filter((edit) => Date.parse(edit.from) < to && Date.parse(edit.to) >= from)
  }

  #put(edit: TimelineEdit): void {
    this.all = [...this.all, edit].sort((a, b) => a.from.localeCompare(b.from))
  }
}

/** The trip after another one, whatever lies between them; null at the end. */
export function tripAfter(segments: Segment[], id: string): Segment | null {
  const index = segments.findIndex((segment) => segment.id === id)
  return index < 0 ? null : (segments.slice(index + 1).find(({ kind }) => kind === 'trip') ?? null)
}

/** Whether a trip can be divided at an instant: at least a second within it. */
export const canSplit = (trip: Segment, at: number): boolean => at > beginOf(trip) + 1000 && at < endOf(trip) - 1000
