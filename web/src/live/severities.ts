// The worst severity of each device's alerts that have not ended.
import type { Schemas } from '$lib/api/client'

type Alert = Schemas['Alert']
export type Severity = Schemas['Severity']

const order: Severity[] = ['info', 'warning', 'critical']

/** The higher of two severities. */
export function worseOf(a: Severity | null, b: Severity | null): Severity | null {
  if (!a || !b) return a ?? b
  return order.indexOf(a) >= order.indexOf(b) ? a : b
}

export class Severities {
  readonly #alerts = new Map<string, Map<string, Severity>>()

  worstOf(device: string): Severity | null {
    const alerts = this.#alerts.get(device)
    return alerts ? [...alerts.values()].reduce<Severity | null>(worseOf, null) : null
  }

  /** Updates the severity with the current state of an alert. */
  put({ id, deviceId, severity, endedAt }: Pick<Alert, 'id' | 'deviceId' | 'severity' | 'endedAt'>): void {
    const alerts = this.#alerts.get(deviceId) ?? new Map<string, Severity>()
    if (endedAt) alerts.delete(id)
    else alerts.set(id, severity)
    if (alerts.size > 0) this.#alerts.set(deviceId, alerts)
    else this.#alerts.delete(deviceId)
  }

  clear(): void {
    this.#alerts.clear()
  }

  forget(id: string): void {
    for (const [device, alerts] of this.#alerts) {
      if (alerts.delete(id) && alerts.size === 0) this.#alerts.delete(device)
    }
  }
}
