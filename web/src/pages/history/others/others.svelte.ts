// Other devices in the history: their tracks in the same range.
import type { Track } from '$lib/map/track/track'
import type { Range } from '$lib/ui/time/range'
import { reason } from '$lib/ui/feedback/toast.svelte'
import { loadTrack } from '$lib/pages/history/load'

/** Maximum number of other devices. */
export const mostOthers = 4

const light = ['#9c36b5', '#c2255c', '#5c4b00', '#087f5b']
const dark = ['#da9bf0', '#ff9ec4', '#e0d089', '#63e6be']

/** The colour of another device, by its index in the list. */
export const otherColour = (index: number, isDark: boolean): string => (isDark ? dark : light)[index] ?? '#777777'

export interface Other {
  id: string
  /** Null while it is loaded. */
  track: Track | null
  problem: string | null
}

export class OtherTracks {
  all: Other[] = $state.raw([])
  #range = ''
  #leave = new AbortController()

  /** Shows these devices; those that are loaded for the same range are kept. */
  show(ids: string[], range: Range): void {
    const key = `${range.from} ${range.to}`
    if (key !== this.#range) this.leave()
    this.#range = key
    const before = this.all
    this.all = ids.map((id) => before.find((other) => other.id === id) ?? { id, track: null, problem: null })
    for (const { id, track, problem } of this.all) {
      if (!track && !problem && !before.some((other) => other.id === id)) void this.#load(id, range)
    }
  }

  /** Cancels loading and removes all devices. */
  leave(): void {
    this.#leave.abort()
    this.#leave = new AbortController()
    this.all = []
  }

  async #load(id: string, range: Range): Promise<void> {
    const leave = this.#leave.signal
    let loaded: Pick<Other, 'track' | 'problem'>
    try {
      const track = await loadTrack(id, range, { leave, cancel: leave, progress: () => undefined })
      loaded = { track, problem: null }
    } catch (error) {
      loaded = { track: null, problem: reason(error) }
    }
    if (!leave.aborted) this.all = this.all.map((other) => (other.id === id ? { ...other, ...loaded } : other))
  }
}
