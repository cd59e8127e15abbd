// Plans in words: their states, their check-ins and the ladder of a missed one, and their order in lists.
import { locale } from '$lib/access/preferences.svelte'
import type { Schemas } from '$lib/api/client'
import { duration } from '$lib/format/format'
import { byName } from '$lib/format/sort'
import { t } from '$lib/i18n/index.svelte'

export type Plan = Schemas['Plan']
export type PlanState = Plan['state']
export type PlanKind = Plan['kind']
export type Waypoint = Plan['waypoints'][number]

export const tones = {
  draft: 'idle',
  active: 'good',
  paused: 'warn',
  overdue: 'bad',
  ended: 'idle',
  cancelled: 'idle'
} as const satisfies Record<PlanState, string>

/** States in which check-ins are accepted. */
export const running: PlanState[] = ['overdue', 'active', 'paused']

export const isRunning = ({ state }: Pick<Plan, 'state'>): boolean => running.includes(state)

const rank: Record<PlanState, number> = { overdue: 0, active: 1, paused: 2, draft: 3, ended: 4, cancelled: 5 }
const timeOf = (instant: string | null | undefined): number => (instant ? Date.parse(instant) : Infinity)

/** Overdue plans first, then active ones; among equals, the one whose next check-in, start or end comes first. */
export function byUrgency(a: Plan, b: Plan): number {
  if (rank[a.state] !== rank[b.state]) return rank[a.state] - rank[b.state]
  const isOver = a.endedAt && b.endedAt
  if (isOver) return timeOf(b.endedAt) - timeOf(a.endedAt)
  const when = ({ missed, next, start }: Plan): number => timeOf(missed?.at ?? next?.at ?? start)
  const [first, second] = [when(a), when(b)]
  return first === second ? byName(a, b) : first - second
}

const units = [
  [1440, 'day'],
  [60, 'hour'],
  [1, 'minute']
] as const

/** Minutes in words: `6 hours`, `1 day 12 hours`. */
export function minutesInWords(minutes: number): string {
  let rest = Math.round(minutes)
  const parts: string[] = []
  for (const [size, unit] of units) {
    const amount = Math.floor(rest / size)
    rest -= amount * size
    if (amount === 0 && !(unit === 'minute' && parts.length === 0)) continue
    const format = new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'long' })
    parts.push(format.format(amount))
  }
  return parts.join(' ')
}

type Expected = Pick<Plan, 'checkIns' | 'expectedArrival'> & { waypoints: { time?: string | null }[] }

/** When check-ins are expected: `every 6 hours`, `at 08:00 and 20:00`, `at 3 waypoints`, `on arrival`. */
export function checkInsInWords({ checkIns, waypoints, expectedArrival }: Expected): string[] {
  const atWaypoints = waypoints.filter(({ time }) => time).length
  const all = new Intl.ListFormat(locale(), { type: 'conjunction' })
  return [
    ...(checkIns.everyMinutes ? [t('plans.every', { interval: minutesInWords(checkIns.everyMinutes) })] : []),
    ...(checkIns.times.length > 0 ? [t('plans.atTimes', { times: all.format(checkIns.times) })] : []),
    ...(atWaypoints > 0 ? [t('plans.atWaypoints', { count: atWaypoints })] : []),
    ...(expectedArrival ? [t('plans.onArrival')] : [])
  ]
}

type Ladder = Pick<Plan, 'graceMinutes' | 'nudge' | 'warnMinutes' | 'alarmMinutes'>
export type Step = 'nudge' | 'warning' | 'alarm'

/** The steps after a missed check-in, with the minutes from its deadline. */
export function stepsOf({ graceMinutes, nudge, warnMinutes, alarmMinutes }: Ladder): { step: Step; after: number }[] {
  return [
    ...(nudge ? [{ step: 'nudge' as const, after: graceMinutes }] : []),
    { step: 'warning', after: graceMinutes + warnMinutes },
    { step: 'alarm', after: graceMinutes + alarmMinutes }
  ]
}

/** The ladder in words, a line for each step. */
export const ladderInWords = (ladder: Ladder): string[] =>
  stepsOf(ladder).map(({ step, after }) =>
    after === 0 ? t(`plans.ladderAtOnce.${step}`) : t(`plans.ladder.${step}`, { after: minutesInWords(after) })
  )

/** What the next check-in is: `Arrival`, `Waypoint 2 (Porto)`. */
export function whatOf({ of, waypoint }: { of: string; waypoint?: number | null }, waypoints: Waypoint[]): string {
  if (of === 'waypoint' && waypoint != null) {
    const name = waypoints[waypoint]?.name
    const number = waypoint + 1
    return name ? t('plans.of.waypointNamed', { number, name }) : t('plans.of.waypointNumber', { number })
  }
  return of === 'arrival' ? t('plans.of.arrival') : t('plans.of.checkIn')
}

/** The time that is left until an instant, or since it: `in 2 h 5 min`, `20 min ago`. */
export function countdown(instant: string, now: number): string {
  const seconds = (Date.parse(instant) - now) / 1000
  return seconds >= 0 ? t('plans.in', { time: duration(seconds) }) : t('plans.late', { time: duration(-seconds) })
}

/** The period of a plan in milliseconds, as it was or as it is planned; null without any time. */
export function periodOf(plan: Plan): { from: number; to: number } | null {
  const times = plan.waypoints.flatMap(({ time }) => (time ? [Date.parse(time)] : []))
  const from = timeOf(plan.startedAt ?? plan.start)
  const planned = plan.expectedArrival ? Date.parse(plan.expectedArrival) : Math.max(-Infinity, ...times)
  const begin = Number.isFinite(from) ? from : Math.min(planned, ...times)
  if (!Number.isFinite(begin)) return null
  const end = plan.endedAt ? Date.parse(plan.endedAt) : planned
  return { from: begin, to: Math.max(begin, Number.isFinite(end) ? end : begin) }
}
