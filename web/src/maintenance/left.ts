// How much is left until maintenance is due, in words, and the order of plans.
import type { Schemas } from '$lib/api/client'
import { distance, duration } from '$lib/format/format'
import { t } from '$lib/i18n/index.svelte'

export type Plan = Schemas['MaintenancePlan']
export type Due = Schemas['MaintenanceDue']

export const tones = { ok: 'good', soon: 'warn', due: 'bad' } as const

const secondsPerHour = 3600

/** What is left of each limit, the nearest first: `714 km left`. */
export function leftOf(due: Due): string[] {
  const parts = [
    { by: 'distance', left: due.distanceLeft, text: (left: number) => distance(left * 1000) },
    { by: 'engineHours', left: due.engineHoursLeft, text: (left: number) => duration(left * secondsPerHour) },
    { by: 'date', left: due.daysLeft, text: (left: number) => t('maintenance.days', { count: left }) }
  ]
  return parts
    .sort((a, b) => Number(b.by === due.by) - Number(a.by === due.by))
    .flatMap(({ left, text, by }) => {
      if (left === null || left === undefined) return []
      if (left > 0) return [t('maintenance.left', { amount: text(left) })]
      if (left === 0) return [t(by === 'date' ? 'maintenance.today' : 'maintenance.now')]
      return [t('maintenance.over', { amount: text(-left) })]
    })
}

const urgency = { due: 0, soon: 1, ok: 2 }

/** Due plans first, then those that are due soon; among equals, the one of which most is used. */
export const byUrgency = (a: Plan, b: Plan): number =>
  urgency[a.due.state] - urgency[b.due.state] || b.due.share - a.due.share || a.name.localeCompare(b.name)

/** The intervals of a plan: `Every 15,000 km or 12 months`. */
export function intervalsOf(plan: Plan): string[] {
  const { distance: km, engineHours, days, months, date } = plan
  return [
    ...(km ? [distance(km * 1000)] : []),
    ...(engineHours ? [t('maintenance.hours', { count: engineHours })] : []),
    ...(days ? [t('maintenance.days', { count: days })] : []),
    ...(months ? [t('maintenance.months', { count: months })] : []),
    ...(date ? [date] : [])
  ]
}
