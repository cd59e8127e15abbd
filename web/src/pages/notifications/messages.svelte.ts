// A list of messages to people, a page at a time, with resending.
import { api, ok, type Schemas } from '../../api/client'
import { t } from '../../i18n/index.svelte'
import { reason, tell, tellProblem } from '../../ui/toast.svelte'
import type { Filter } from './filter'

export type Message = Schemas['Notification']
const pageSize = 50

/** Whether a message can be sent again. */
export const canResend = ({ state }: Message): boolean => ['suppressed', 'failed', 'unclear'].includes(state)

export class Messages {
  items: Message[] = $state([])
  loaded = $state(false)
  busy = $state(false)
  problem: string | null = $state(null)
  #cursor: string | null = $state(null)
  #filter: Filter = {}
  #latest = 0

  get hasMore(): boolean {
    return this.#cursor !== null
  }

  /** Begins with the newest that fit. */
  async load(filter: Filter): Promise<void> {
    this.#filter = filter
    await this.#fetch(null)
  }

  more(): Promise<void> {
    return this.#fetch(this.#cursor)
  }

  async resend(message: Message): Promise<void> {
    const path = { notificationId: message.id }
    try {
      const { notification } = await ok(api.POST('/api/notifications/{notificationId}/resend', { params: { path } }))
      this.items = this.items.map((one) => (one.id === message.id ? notification : one))
      tell(t('notifications.resent'))
    } catch (error) {
      tellProblem(error)
    }
  }

  async #fetch(cursor: string | null): Promise<void> {
    const call = ++this.#latest
    this.busy = true
    try {
      const query = { ...this.#filter, limit: pageSize, ...(cursor ? { cursor } : {}) }
      const page = await ok(api.GET('/api/notifications', { params: { query } }))
      // An answer to a filter that was changed meanwhile is of no use.
      if (call !== this.#latest) return
      this.items = cursor ? [...this.items, ...page.notifications] : page.notifications
      this.#cursor = page.nextCursor ?? null
      this.problem = null
      this.loaded = true
    } catch (error) {
      if (call === this.#latest) this.problem = reason(error)
    } finally {
      if (call === this.#latest) this.busy = false
    }
  }
}
