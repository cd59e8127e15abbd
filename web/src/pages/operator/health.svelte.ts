// Polls the server's health while the page is visible, and keeps the last minutes for the trends.
import { api, ok } from '$lib/api/client'
import { reason } from '$lib/ui/feedback/toast.svelte'
import type { Health } from './concerns'

const every = 4_000
/** Samples kept: about five minutes. */
const most = 75

export const figures = {
  writes: (health: Health) => health.intake.writes,
  locations: (health: Health) => health.intake.locations,
  rules: (health: Health) => health.rulesLagSeconds,
  email: (health: Health) => health.messages.email.waiting,
  sms: (health: Health) => health.messages.sms.waiting,
  webhooks: (health: Health) => health.webhooks.waiting,
  connections: (health: Health) => health.connections.open
}
export type Figure = keyof typeof figures

class Watch {
  now: Health | null = $state.raw(null)
  at = $state(0)
  problem: string | null = $state(null)
  past: Health[] = $state.raw([])
  #timer = 0
  #looks = 0

  /** Polls until the returned function is called. */
  start(): () => void {
    const look = ++this.#looks
    void this.#ask(look)
    return () => {
      this.#looks++
      clearTimeout(this.#timer)
    }
  }

  history(figure: Figure): number[] {
    return this.past.map(figures[figure])
  }

  async #ask(look: number): Promise<void> {
    if (!document.hidden) {
      try {
        const { health } = await ok(api.GET('/api/operator/health'))
        this.now = health
        this.at = Date.now()
        this.past = [...this.past, health].slice(-most)
        this.problem = null
      } catch (error) {
        this.problem = reason(error)
      }
    }
    if (look === this.#looks) this.#timer = window.setTimeout(() => void this.#ask(look), every)
  }
}

export const watch = new Watch()
