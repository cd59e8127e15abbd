// How many texts of each device the user has not read: loaded once, and again after events of conversations.
import { SvelteMap } from 'svelte/reactivity'
import { api, ok } from '$lib/api/client'
import { fleet } from '$lib/live/fleet.svelte'

/** Texts that arrive together are counted by one request, this long after the first. */
const reloadDelayMs = 1_000
const pageSize = 1_000

class Unread {
  /** Devices with unread texts. */
  readonly byDevice = new SvelteMap<string, number>()
  #soon = 0
  #unlisten: (() => void) | null = null

  start(): void {
    this.stop()
    void this.load()
    this.#unlisten = fleet.onEvent(({ type }) => {
      if (type !== 'conversation.received') return
      this.#soon ||= window.setTimeout(() => {
        this.#soon = 0
        void this.load()
      }, reloadDelayMs)
    })
  }

  stop(): void {
    this.#unlisten?.()
    this.#unlisten = null
    clearTimeout(this.#soon)
    this.#soon = 0
    this.byDevice.clear()
  }

  /** Records what the server answered when the user read a conversation. */
  put(device: string, unread: number): void {
    if (unread > 0) this.byDevice.set(device, unread)
    else this.byDevice.delete(device)
  }

  async load(): Promise<void> {
    try {
      let cursor: string | undefined
      do {
        const params = { query: { limit: pageSize, cursor } }
        const list = await ok(api.GET('/api/conversations', { params }))
        for (const { deviceId, unread } of list.conversations) this.put(deviceId, unread)
        cursor = list.nextCursor ?? undefined
      } while (cursor)
    } catch {
      // The counts stay as they are; the next event loads them again.
    }
  }
}

export const unread = new Unread()
