// A list that is loaded page by page. An answer that a newer request has superseded is dropped.
import { reason } from '$lib/ui/feedback/toast.svelte'

export interface Part<T> {
  items: T[]
  nextCursor?: string | null
}

export class Paged<T extends { id: string }> {
  items: T[] = $state.raw([])
  loaded = $state(false)
  busy = $state(false)
  problem: string | null = $state(null)
  #cursor: string | null = $state(null)
  #latest = 0

  /** Requests the page at a cursor, or the first page. */
  constructor(private readonly ask: (cursor: string | undefined) => Promise<Part<T>>) {}

  get hasMore(): boolean {
    return this.#cursor !== null
  }

  /** Loads the first page again; the old items stay until it arrives. */
  load(): Promise<void> {
    return this.#fetch(null)
  }

  /** Adds the next page. */
  more(): Promise<void> {
    return this.#fetch(this.#cursor)
  }

  /** Replaces an item by one from an API response. */
  put(item: T): void {
    this.items = this.items.map((one) => (one.id === item.id ? item : one))
  }

  async #fetch(cursor: string | null): Promise<void> {
    const call = ++this.#latest
    this.busy = true
    try {
      const { items, nextCursor } = await this.ask(cursor ?? undefined)
      if (call !== this.#latest) return
      this.items = cursor ? [...this.items, ...items] : items
      this.#cursor = nextCursor ?? null
      this.loaded = true
      this.problem = null
    } catch (error) {
      if (call === this.#latest) this.problem = reason(error)
    } finally {
      if (call === this.#latest) this.busy = false
    }
  }
}
