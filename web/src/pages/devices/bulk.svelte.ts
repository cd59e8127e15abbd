// Applies one change to many devices, some at a time, with progress and failures.
import { reason } from '$lib/ui/feedback/toast.svelte'

/** Number of parallel requests: enough to be fast, few enough not to slow down other users. */
const requestsAtOnce = 4

export interface Failure<T> {
  item: T
  why: string
}

export class Bulk<T> {
  busy = $state(false)
  total = $state(0)
  done = $state(0)
  failures: Failure<T>[] = $state.raw([])
  #isStopped = false

  /** Applies a change to each item; returns how many succeeded. A failure does not stop the others. */
  async run(items: T[], change: (item: T) => Promise<void>): Promise<number> {
    if (this.busy) return 0
    this.busy = true
    this.total = items.length
    this.done = 0
    this.failures = []
    this.#isStopped = false
    const waiting = [...items]
    const work = async (): Promise<void> => {
      for (let item = waiting.shift(); item !== undefined && !this.#isStopped; item = waiting.shift()) {
        try {
          await change(item)
        } catch (error) {
          this.failures = [...this.failures, { item, why: reason(error) }]
        }
        this.done++
      }
    }
    await Promise.all(Array.from({ length: requestsAtOnce }, work))
    this.busy = false
    return this.done - this.failures.length
  }

  /** Starts no further changes; running ones finish. */
  stop(): void {
    this.#isStopped = true
  }

  reset(): void {
    this.total = 0
    this.done = 0
    this.failures = []
  }
}
