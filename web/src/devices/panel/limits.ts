// The notifications of a day compared with a device's limit.
import type { Schemas } from '$lib/api/client'

export interface Usage {
  /** `unlimited`, `forbidden` (limit 0), `open`, `reserve` (only critical alerts are sent) or `reached`. */
  state: 'unlimited' | 'forbidden' | 'open' | 'reserve' | 'reached'
  sent: number
  limit: number
  /** Part of the limit that is reserved for critical alerts. */
  reserve: number
  left: number
}

export function usageOf(sent: number, limit: number | null | undefined, reserve: number): Usage {
  if (limit == null) return { state: 'unlimited', sent, limit: 0, reserve: 0, left: 0 }
  const kept = Math.min(reserve, limit)
  const left = Math.max(0, limit - sent)
  return { state: stateOf(limit, left, kept), sent, limit, reserve: kept, left }
}

function stateOf(limit: number, left: number, kept: number): Usage['state'] {
  if (limit === 0) return 'forbidden'
  if (left === 0) return 'reached'
  return left <= kept ? 'reserve' : 'open'
}

/** Whether the limit of an allowed channel is reached today. */
export const isReached = ({ limits, counters }: Schemas['Device']): boolean =>
  usageOf(counters.emailsSent, limits.dailyEmailLimit, 0).state === 'reached' ||
  usageOf(counters.smsSent, limits.dailySmsLimit, 0).state === 'reached'

/** Whole days between two dates, both as `2026-05-01`. */
export const daysBetween = (from: string, to: string): number =>
  Math.round((Date.parse(`${to}T00:00Z`) - Date.parse(`${from}T00:00Z`)) / 86_400_000)

type Days = number | null | undefined

/** Whether a new retention deletes locations that the old one keeps; null keeps them forever. */
export const isShorterRetention = (before: Days, after: Days): boolean =>
  after != null && (before == null || after < before)
