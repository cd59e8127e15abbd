// Describes a rule in words: "When speed is above 90 km/h for 30 s, on weekdays 08:00 to 18:00, for group Trucks: raise
// “Speed limit exceeded”, critical." All inputs are parameters, so that tests get the same text.
import type { Schemas } from '$lib/api/client'
import type { MessagesUnder, t } from '$lib/i18n/index.svelte'
import type { UnitSystem } from '$lib/access/preferences.svelte'
import { kindOf, type Condition, type Crossing } from './conditions'
import { weekdays as week } from './ruleForm'
import { toUser, unitOf, type Quantity } from './units'

export interface DescribeContext {
  say: typeof t
  duration: (seconds: number) => string
  language: string
  units: UnitSystem
  nameOf: Record<'device' | 'group' | 'geofence', (id: string) => string>
  /** The title of an alert of this name. */
  alert: (name: string) => string
}

type RuleWords = Pick<
  Schemas['Rule'],
  'allDevices' | 'devices' | 'groups' | 'conditions' | 'forSeconds' | 'coolDownSeconds' | 'schedule' | 'critical'
> & { raises?: string }

/** Lists longer than this are cut. */
const mostNamed = 3

function list(words: DescribeContext, names: string[], type: 'conjunction' | 'disjunction'): string {
  const rest = names.length - mostNamed
  const shown = rest > 1 ? [...names.slice(0, mostNamed), words.say('rules.say.others', { count: rest })] : names
  return new Intl.ListFormat(words.language, { type }).format(shown)
}

function amount(words: DescribeContext, quantity: Quantity, value: number | null | undefined): string {
  if (value == null) return words.say('rules.say.unknown')
  const shown = toUser(quantity, value, words.units).toLocaleString(words.language)
  const unit = quantity === 'rpm' ? words.say('rules.unit.rpm') : unitOf(quantity, words.units)
  return unit ? `${shown} ${unit}` : shown
}

export function describeCondition(words: DescribeContext, condition: Condition): string {
  const { say, duration } = words
  const { type } = condition
  const fences = () =>
    list(words, (condition.geofences ?? []).map(words.nameOf.geofence), 'disjunction') || say('rules.say.unknownPlace')
  const { quantity, parts } = kindOf(type)
  if (parts.includes('compare')) return describeMeasure(words, condition, quantity)
  switch (type) {
    case 'geofence':
      return say(`rules.say.geofence.${(condition.when as Crossing | undefined) ?? 'enter'}`, { places: fences() })
    case 'route':
      return say('rules.say.route', { places: fences() })
    case 'idle':
      return say('rules.say.idle', {
        time: duration(condition.seconds ?? 0),
        speed: amount(words, 'speed', condition.belowSpeed ?? 5)
      })
    case 'noMovement':
      return say('rules.say.noMovement', {
        time: duration(condition.seconds ?? 0),
        radius: amount(words, 'metres', condition.radius ?? 100)
      })
    case 'fuelDrop':
    case 'fuelRise':
      return say(`rules.say.${type}`, {
        tank: condition.tank ?? 1,
        by: amount(words, 'percent', condition.by),
        time: duration(condition.withinSeconds ?? 600)
      })
    case 'input':
    case 'ignition':
      return say(`rules.say.${type}.${condition.on === false ? 'off' : 'on'}`, { number: condition.number ?? 1 })
    case 'sensorTime':
      return say('rules.say.sensorTime', {
        number: condition.number ?? 1,
        time: duration(condition.above ?? condition.reached ?? 0)
      })
    case 'harshBraking':
    case 'harshAcceleration':
      return say(`rules.say.${type}`, { rate: amount(words, 'speed', condition.perSecond ?? 12) })
    case 'tripDistance':
      return say('rules.say.tripDistance', { distance: amount(words, 'distance', condition.above) })
    case 'tripDuration':
      return say('rules.say.tripDuration', { time: duration(condition.seconds ?? 0) })
    case 'tripPurpose':
      return say('rules.say.tripPurpose', { purpose: condition.purpose ?? '' })
    case 'drivingTime':
      return say('rules.say.drivingTime', {
        time: duration(condition.seconds ?? 0),
        rest: duration(condition.breakSeconds ?? 900)
      })
    case 'noTrip':
      return say('rules.say.noTrip', { time: duration(condition.seconds ?? 0) })
    case 'tripOutsideHours':
    case 'tripNoDriver':
    case 'late':
    case 'offline':
    case 'sos':
      return say(`rules.say.${type}`)
    default:
      return type
  }
}

function describeMeasure(words: DescribeContext, condition: Condition, quantity: Quantity): string {
  const { say } = words
  const what =
    condition.type === 'attribute'
      ? (condition.name ?? '')
      : say(`rules.what.${condition.type as MessagesUnder<'rules.what'>}`)
  if (condition.equals != null) return say('rules.say.equals', { what, limit: String(condition.equals) })
  const compare = condition.reached != null ? 'reached' : condition.below != null ? 'below' : 'above'
  const comparison = say(`rules.say.${compare}`, { what, limit: amount(words, quantity, condition[compare]) })
  return condition.clear == null
    ? comparison
    : `${comparison} ${say('rules.say.clear', { limit: amount(words, quantity, condition.clear) })}`
}

/** The days of a schedule: "on weekdays", "Mon–Wed, Fri". */
export function describeDays(words: DescribeContext, days: string[]): string {
  const chosen = week.map((day) => days.includes(day))
  const is = (pattern: string): boolean => chosen.map((on) => (on ? 'x' : '.')).join('') === pattern
  if (is('xxxxxxx')) return words.say('rules.say.everyDay')
  if (is('xxxxx..')) return words.say('rules.say.workdays')
  if (is('.....xx')) return words.say('rules.say.weekend')
  const parts: string[] = []
  for (let first = 0; first < 7; first++) {
    if (!chosen[first]) continue
    let last = first
    while (chosen[last + 1]) last++
    const [from, to] = [dayName(words.language, first), dayName(words.language, last)]
    parts.push(last - first > 1 ? `${from}–${to}` : last > first ? `${from}, ${to}` : from)
    first = last
  }
  return parts.join(', ')
}

/** The short name of a day, Monday being 0. */
export function dayName(language: string, day: number, weekday: 'short' | 'long' = 'short'): string {
  // The first of January 2024 was a Monday.
  return new Intl.DateTimeFormat(language, { weekday, timeZone: 'UTC' }).format(Date.UTC(2024, 0, 1 + day))
}

function describeTarget(words: DescribeContext, rule: RuleWords): string {
  if (rule.allDevices) return words.say('rules.say.allDevices')
  const parts: string[] = []
  if (rule.groups.length > 0) {
    parts.push(
      words.say('rules.say.groups', {
        count: rule.groups.length,
        names: list(words, rule.groups.map(words.nameOf.group), 'conjunction')
      })
    )
  }
  if (rule.devices.length > 0) parts.push(list(words, rule.devices.map(words.nameOf.device), 'conjunction'))
  return new Intl.ListFormat(words.language).format(parts) || words.say('rules.say.nobody')
}

/** The whole rule in one sentence. */
export function describeRule(words: DescribeContext, rule: RuleWords): string {
  const { say, duration } = words
  const conditions = new Intl.ListFormat(words.language).format(
    rule.conditions.map((condition) => describeCondition(words, condition))
  )
  const parts = [
    rule.forSeconds > 0 ? say('rules.say.for', { what: conditions, time: duration(rule.forSeconds) }) : conditions
  ]
  if (rule.schedule) {
    const { weekdays, from, to, timeZone } = rule.schedule
    const hours = say('rules.say.hours', { days: describeDays(words, weekdays), from, to })
    parts.push(timeZone ? `${hours} (${timeZone})` : hours)
  }
  parts.push(say('rules.say.target', { who: describeTarget(words, rule) }))
  const alert = rule.raises ? say('rules.say.raise', { alert: words.alert(rule.raises) }) : say('rules.say.raiseAlert')
  const then = [alert, ...(rule.critical ? [say('rules.say.critical')] : [])]
  if (rule.coolDownSeconds > 0) then.push(say('rules.say.coolDown', { time: duration(rule.coolDownSeconds) }))
  return say('rules.say.rule', { when: parts.join(', '), then: then.join(', ') })
}
