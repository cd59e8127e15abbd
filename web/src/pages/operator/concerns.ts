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

/** A problem that needs attention; `what` is the key of its message. */
export type Concern = Values & ({ kind: 'warn'; what: Warning } | { kind: 'bad'; what: Alarm })

const gib = 2 ** 30
const hourSeconds = 3600
const day = 24 * hourSeconds

/** Number of samples in which a queue must be long: an import fills it for a moment. */
const sustainedSamples = 5

/** The smallest queue of the last samples, or 0 while there are too few. */
function queuedIn(past: Health[]): number {
  const last = past.slice(-sustainedSamples)
  return last.length < sustainedSamples ? 0 : Math.min(...last.map(({ intake }) => intake.writes + intake.locations))
}

/** All problems, the worst first. `past` includes the current sample. */
export function concerns(health: Health, now: number, past: Health[]): Concern[] {
  const found: Concern[] = []
  /** Adds a problem if a figure has reached the limit of a warning or of an alarm. */
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
  // The limit that the operator set may be higher than these.
  warnIf(store.spaceLow && (freeBytes ?? 0) > 4 * gib, 'spaceLow', { bytes: freeBytes ?? 0, disk: diskBytes ?? 0 })
  if (!store.rawMessagesStored) found.push({ kind: 'bad', what: 'rawMessages' })
  if (damagedRows > 0) found.push({ kind: 'bad', what: 'damaged', count: damagedRows })
  warnIf(quarantinedRows > 0, 'quarantined', { count: quarantinedRows })
  // The server refuses further submissions while 10,000 wait; each of them may have only one location.
  const queued = queuedIn(past)
  note('intake', queued, 1_000, 8_000, { count: queued })
  note('rules', health.rulesLagSeconds, 60, 900, { seconds: health.rulesLagSeconds })
  for (const channel of ['email', 'sms', 'others'] as const) {
    const seconds = waited(messages[channel])
    note(channel, seconds, 600, 2 * hourSeconds, { count: messages[channel].waiting, seconds })
  }
  // Receivers of an account may be unavailable for days; that concerns the owner of the account.
  warnIf(waited(webhooks) >= hourSeconds, 'webhooks', { count: webhooks.waiting, seconds: waited(webhooks) })
  note('connections', connections.open / Math.max(1, connections.limit), 0.8, 0.95, connections)
  if (store.engine === 'sqlite') {
    warnIf(!lastBackup, 'noBackup')
    // A weekly backup may take place a day late.
    if (lastBackup) warnIf(now - Date.parse(lastBackup) >= 8 * day * 1000, 'backup', { when: lastBackup })
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
