// Polls the server's health while the page is visible, and keeps the last minutes for the trends.
import { api, ok } from '$lib/api/client'
import { reason } from '$lib/ui/feedback/toast.svelte'
import type { Health } from './concerns'

const reloadMs = 4_000
/** Samples kept: about five minutes. */
const mostSamples = 75

export const figures = {
  writes: (health: Health) => health.intake.writes,
  locations: (health: Health) => health.intake.locations,
  rules: (health: Health) => health.rulesLagSeconds,
  email: (health: Health) => health.messages.email.waiting,
  sms: (health: Health) => health.messages.sms.waiting,
  others: (health: Health) => health.messages.others.waiting,
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
  /** Grows with each start and stop, so that an older poll does not continue. */
  #run = 0

  /** Polls until the returned function is called. */
  start(): () => void {
    const run = ++this.#run
    void this.#poll(run)
    return () => {
      this.#run++
      clearTimeout(this.#timer)
    }
  }

  history(figure: Figure): number[] {
    return this.past.map(figures[figure])
  }

  async #poll(run: number): Promise<void> {
    if (!document.hidden) {
      try {
        const { health } = await ok(api.GET('/api/operator/health'))
        this.now = health
        this.at = Date.now()
        this.past = [...this.past, health].slice(-mostSamples)
        this.problem = null
      } catch (error) {
        this.problem = reason(error)
      }
    }
    if (run === this.#run) this.#timer = window.setTimeout(() => void this.#poll(run), reloadMs)
  }
}

export const watch = new Watch()
