// Finds the problems in the server's health figures.
import type { Schemas } from '$lib/api/client'
import type { MessagesUnder } from '$lib/i18n/index.svelte'

export type Health = Schemas['Health']
export type Backlog = Schemas['HealthBacklog']

type Warning = MessagesUnder<'operator.warn'>
type Alarm = MessagesUnder<'operator.bad'>

interface Values {
  count?: number
  seconds?: number
  bytes?: number
  open?: number
  limit?: number
  disk?: number
  when?: string
}

/** Something that needs attention; `what` names its message. */
export type Concern = Values & ({ kind: 'warn'; what: Warning } | { kind: 'bad'; what: Alarm })

const gib = 2 ** 30
const hour = 3600
const day = 24 * hour

/** The latest samples in all of which a queue must have been long: an import fills it for a moment. */
const sustained = 5

/** The smallest queue of the last samples, or 0 while there are too few. */
function queuedIn(past: Health[]): number {
  const last = past.slice(-sustained)
  return last.length < sustained ? 0 : Math.min(...last.map(({ intake }) => intake.writes + intake.locations))
}

/** All problems, the worst first. `past` includes the present sample. */
export function concerns(health: Health, now: number, past: Health[]): Concern[] {
  const found: Concern[] = []
  /** Adds a concern if a figure has reached the limit of a warning or of an alarm. */
  const note = (what: Warning & Alarm, value: number, warn: number, bad: number, values: Values): void => {
    if (value >= warn) found.push({ kind: value >= bad ? 'bad' : 'warn', what, ...values })
  }
  const warnIf = (isSo: boolean, what: Warning, values: Values = {}): void => {
    if (isSo) found.push({ kind: 'warn', what, ...values })
  }
  const waited = ({ oldest }: Backlog): number => (oldest ? (now - Date.parse(oldest)) / 1000 : 0)
  const { store, messages, webhooks, connections, lastBackup } = health
  const { freeBytes, diskBytes, damagedRows, quarantinedRows } = store
  if (freeBytes != null) note('disk', -freeBytes, -4 * gib, -gib, { bytes: freeBytes })
  // The operator's own limit may be higher than those.
  warnIf(store.spaceLow && (freeBytes ?? 0) > 4 * gib, 'spaceLow', { bytes: freeBytes ?? 0, disk: diskBytes ?? 0 })
  if (damagedRows > 0) found.push({ kind: 'bad', what: 'damaged', count: damagedRows })
  warnIf(quarantinedRows > 0, 'quarantined', { count: quarantinedRows })
  // The server refuses more when ten thousand submissions wait, which may be of one location each.
  const queued = queuedIn(past)
  note('intake', queued, 1_000, 8_000, { count: queued })
  note('rules', health.rulesLagSeconds, 60, 900, { seconds: health.rulesLagSeconds })
  for (const channel of ['email', 'sms'] as const) {
    const seconds = waited(messages[channel])
    note(channel, seconds, 600, 2 * hour, { count: messages[channel].waiting, seconds })
  }
  // A receiver of an account may be gone for days: that is its owner's matter.
  warnIf(waited(webhooks) >= hour, 'webhooks', { count: webhooks.waiting, seconds: waited(webhooks) })
  note('connections', connections.open / Math.max(1, connections.limit), 0.8, 0.95, connections)
  if (store.engine === 'sqlite') {
    // A server that started today need not have a backup yet.
    if (!lastBackup) warnIf(health.uptimeSeconds > day, 'noBackup')
    else warnIf(now - Date.parse(lastBackup) >= 8 * day * 1000, 'backup', { when: lastBackup })
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
