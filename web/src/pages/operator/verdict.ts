// How the server is, and what of it needs somebody's attention.
import type { Schemas } from '../../api/client'

export type Health = Schemas['Health']
export type Backlog = Schemas['HealthBacklog']

/** Something that needs attention; `what` names its message. */
export interface Concern {
  kind: 'warn' | 'bad'
  what: string
  count?: number
  seconds?: number
  bytes?: number
  open?: number
  limit?: number
  when?: string
}

const gib = 2 ** 30
const hour = 3600
const day = 24 * hour

/** Samples, the latest of all, in which a queue must have been long: many arrive at once when somebody imports. */
const sustained = 5

/** What waited to be stored in all of the last samples, or nothing while there are too few. */
function queuedIn(past: Health[]): number {
  const last = past.slice(-sustained)
  return last.length < sustained ? 0 : Math.min(...last.map(({ intake }) => intake.writes + intake.locations))
}

/** The worst first; nothing when all is well. The past has the present in it. */
export function concerns(health: Health, now: number, past: Health[]): Concern[] {
  const found: Concern[] = []
  /** Notes how bad a figure is, by the limits of a warning and of an alarm. */
  const note = (what: string, value: number, warn: number, bad: number, more: Partial<Concern>): void => {
    if (value >= warn) found.push({ kind: value >= bad ? 'bad' : 'warn', what, ...more })
  }
  const waited = ({ oldest }: Backlog): number => (oldest ? (now - Date.parse(oldest)) / 1000 : 0)
  const { store, messages, webhooks, connections, lastBackup } = health
  if (store.freeBytes != null) note('disk', -store.freeBytes, -4 * gib, -gib, { bytes: store.freeBytes })
  // The server refuses more when ten thousand submissions wait, which may be of one location each.
  const queued = queuedIn(past)
  note('intake', queued, 1_000, 8_000, { count: queued })
  note('rules', health.rulesLagSeconds, 60, 900, { seconds: health.rulesLagSeconds })
  for (const channel of ['email', 'sms'] as const) {
    const seconds = waited(messages[channel])
    note(channel, seconds, 600, 2 * hour, { count: messages[channel].waiting, seconds })
  }
  // A receiver of an account may be gone for days: that is its owner's matter.
  note('webhooks', waited(webhooks), hour, Infinity, { count: webhooks.waiting, seconds: waited(webhooks) })
  note('connections', connections.open / Math.max(1, connections.limit), 0.8, 0.95, connections)
  if (store.engine === 'sqlite') {
    if (!lastBackup) {
      // A server of today need not have one yet.
      if (health.uptimeSeconds > day) found.push({ kind: 'warn', what: 'noBackup' })
    } else note('backup', (now - Date.parse(lastBackup)) / 1000, 8 * day, Infinity, { when: lastBackup })
  }
  return found.sort((a, b) => Number(b.kind === 'bad') - Number(a.kind === 'bad'))
}

/** Bytes in the unit in which they are best read. */
export function bytesIn(bytes: number): { value: number; unit: string } {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  let [value, index] = [bytes, 0]
  while (value >= 1000 && index < units.length - 1) {
    value /= 1000
    index++
  }
  return { value, unit: units[index] ?? 'B' }
}

/** The points of a small line through figures, in a box of this size. */
export function trend(figures: number[], width: number, height: number): string {
  const most = Math.max(1, ...figures)
  const step = width / Math.max(1, figures.length - 1)
  return figures
    .map((figure, index) => `${(index * step).toFixed(1)},${(height - (figure / most) * height).toFixed(1)}`)
    .join(' ')
}
