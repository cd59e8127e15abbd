// Groups alerts that repeat: the same alert of the same device, in the same stage.
import { stageOf } from './filter'
import type { Alert } from './names'

export interface Repeated {
  /** The newest alert, which stands for the others. */
  alert: Alert
  /** All alerts of the group, newest first. */
  all: Alert[]
}

/** The groups in the order of their newest alerts. The alerts must be sorted, newest first. */
export function repeated(alerts: Alert[]): Repeated[] {
  const groups = new Map<string, Repeated>()
  for (const alert of alerts) {
    const key = `${stageOf(alert)} ${alert.deviceId} ${alert.alertName}`
    const known = groups.get(key)
    if (known) known.all.push(alert)
    else groups.set(key, { alert, all: [alert] })
  }
  return [...groups.values()]
}
