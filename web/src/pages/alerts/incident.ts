// The timeline of an incident: what happened to an alert and who was notified, in order of time.
import type { Alert } from '$lib/alerts/names'
import type { Schemas } from '$lib/api/client'

export type Message = Schemas['Notification']
export type Note = Schemas['AlertNote']

export type Entry = { at: string; id: string } & (
  | { kind: 'raised' | 'received' | 'acknowledged' | 'ended' }
  | { kind: 'note'; note: Note }
  | { kind: 'message'; message: Message; step: 'written' | 'sent' | 'delivered' }
)

/** An alert that arrives later than this, in milliseconds, has an entry for its arrival. */
const lateMs = 10_000

/** Oldest first. */
export function timelineOf(alert: Alert, messages: Message[], notes: Note[] = []): Entry[] {
  const entries: Entry[] = [{ at: alert.dateTime, id: 'raised', kind: 'raised' }]
  if (Date.parse(alert.receivedAt) - Date.parse(alert.dateTime) > lateMs) {
    entries.push({ at: alert.receivedAt, id: 'received', kind: 'received' })
  }
  if (alert.acknowledgedAt) entries.push({ at: alert.acknowledgedAt, id: 'acknowledged', kind: 'acknowledged' })
  if (alert.endedAt) entries.push({ at: alert.endedAt, id: 'ended', kind: 'ended' })
  // An acknowledgement without a note is shown by the alert itself.
  for (const note of notes) {
    if (note.text) entries.push({ at: note.creation, id: note.id, kind: 'note', note })
  }
  for (const message of messages) {
    const { id, creation, sentAt, deliveredAt } = message
    // A notification that was never sent is listed once, with the reason.
    if (!sentAt) entries.push({ at: creation, id: `${id} written`, kind: 'message', message, step: 'written' })
    else entries.push({ at: sentAt, id: `${id} sent`, kind: 'message', message, step: 'sent' })
    if (deliveredAt) {
      entries.push({ at: deliveredAt, id: `${id} delivered`, kind: 'message', message, step: 'delivered' })
    }
  }
  return entries.sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}
