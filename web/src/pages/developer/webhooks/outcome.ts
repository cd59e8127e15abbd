// The outcome of a webhook delivery in words.
import type { Schemas } from '$lib/api/client'
import type { t } from '$lib/i18n/index.svelte'

type Delivery = Pick<Schemas['WebhookDelivery'], 'state' | 'attempts' | 'lastStatus' | 'lastError'>
type Say = typeof t

export function outcome(say: Say, { state, attempts, lastStatus, lastError }: Delivery): string {
  if (state === 'delivered') return say('developer.outcome.delivered', { status: lastStatus ?? 200 })
  if (attempts === 0) return say('developer.outcome.notYet')
  if (lastStatus != null) return say('developer.outcome.answered', { status: lastStatus })
  return say('developer.outcome.failed', { why: lastError ?? '' })
}
