// What became of a message to a webhook, in words.
import type { Schemas } from '../../api/client'

type Delivery = Pick<Schemas['WebhookDelivery'], 'state' | 'attempts' | 'lastStatus' | 'lastError'>
type Say = (key: string, values?: Record<string, string | number>) => string

export function outcome(say: Say, { state, attempts, lastStatus, lastError }: Delivery): string {
  if (state === 'delivered') return say('developer.outcome.delivered', { status: lastStatus ?? 200 })
  if (attempts === 0) return say('developer.outcome.notYet')
  if (lastStatus != null) return say('developer.outcome.answered', { status: lastStatus })
  return say('developer.outcome.failed', { why: lastError ?? '' })
}
