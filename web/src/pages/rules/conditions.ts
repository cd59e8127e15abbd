// The types of rule conditions, the fields of each, and conversion between API and form.
import type { Schemas } from '$lib/api/client'
import type { UnitSystem } from '$lib/access/preferences.svelte'
import { fromUser, toUser, type Quantity } from './units'

export type Condition = Schemas['RuleCondition']
/** Relations to a geofence, as in `RuleCondition.when` of the API document. */
export const crossings = ['enter', 'leave', 'inside', 'outside'] as const
export type Crossing = (typeof crossings)[number]
export type Compare = 'above' | 'below' | 'reached' | 'equals'

/** The fields of the form of a type of condition. */
export type Part =
  | 'compare'
  | 'clear'
  | 'name'
  | 'number'
  | 'on'
  | 'when'
  | 'geofences'
  | 'seconds'
  | 'belowSpeed'
  | 'radius'
  | 'by'
  | 'withinSeconds'
  | 'tank'
  | 'perSecond'
  | 'over'
  | 'purpose'
  | 'breakSeconds'

interface Kind {
  parts: Part[]
  quantity: Quantity
  /** Defaults when the type is chosen. */
  usual: Partial<ConditionForm>
  /** Whether it cannot be combined with other conditions. */
  alone?: boolean
}

export interface ConditionForm {
  /** Identifies the condition while it is edited. */
  key: number
  type: string
  compare: Compare
  limit: number | null
  clear: number | null
  name: string
  equals: string
  number: number | null
  on: boolean
  when: string
  geofences: string[]
  seconds: number
  belowSpeed: number | null
  radius: number | null
  by: number | null
  withinSeconds: number
  tank: number
  perSecond: number | null
  purpose: string
  breakSeconds: number
}

const measure = (quantity: Quantity, usual: Partial<ConditionForm>): Kind => ({
  parts: ['compare', 'clear'],
  quantity,
  usual
})

export const kinds: Record<string, Kind> = {
  speed: measure('speed', { compare: 'above', limit: 90 }),
  geofence: { parts: ['when', 'geofences'], quantity: 'plain', usual: { when: 'enter' } },
  route: { parts: ['geofences'], quantity: 'plain', usual: {} },
  idle: { parts: ['seconds', 'belowSpeed'], quantity: 'plain', usual: { seconds: 600, belowSpeed: 5 } },
  noMovement: { parts: ['seconds', 'radius'], quantity: 'plain', usual: { seconds: 86_400, radius: 100 } },
  late: { parts: [], quantity: 'plain', usual: {}, alone: true },
  offline: { parts: [], quantity: 'plain', usual: {}, alone: true },
  sos: { parts: [], quantity: 'plain', usual: {} },
  ignition: { parts: ['on'], quantity: 'plain', usual: { on: true } },
  input: { parts: ['number', 'on'], quantity: 'plain', usual: { number: 1, on: true } },
  harshBraking: { parts: ['perSecond'], quantity: 'plain', usual: { perSecond: 12 } },
  harshAcceleration: { parts: ['perSecond'], quantity: 'plain', usual: { perSecond: 12 } },
  battery: measure('percent', { compare: 'below', limit: 20 }),
  temperature: measure('temperature', { compare: 'above', limit: 8 }),
  temperature2: measure('temperature', { compare: 'above', limit: 8 }),
  fuel: measure('percent', { compare: 'below', limit: 15 }),
  fuel2: measure('percent', { compare: 'below', limit: 15 }),
  fuelDrop: { parts: ['by', 'withinSeconds', 'tank'], quantity: 'plain', usual: { by: 10, withinSeconds: 600 } },
  fuelRise: { parts: ['by', 'withinSeconds', 'tank'], quantity: 'plain', usual: { by: 10, withinSeconds: 600 } },
  rpm: measure('rpm', { compare: 'above', limit: 4000 }),
  mileage: measure('distance', { compare: 'reached', limit: 10_000 }),
  sensorTime: { parts: ['number', 'seconds'], quantity: 'plain', usual: { number: 1, seconds: 3600 } },
  attribute: { parts: ['name', 'compare', 'clear'], quantity: 'plain', usual: { compare: 'equals' } },
  tripDistance: { parts: ['over'], quantity: 'distance', usual: { limit: 200 }, alone: true },
  tripDuration: { parts: ['seconds'], quantity: 'plain', usual: { seconds: 14_400 }, alone: true },
  tripOutsideHours: { parts: [], quantity: 'plain', usual: {}, alone: true },
  tripPurpose: { parts: ['purpose'], quantity: 'plain', usual: { purpose: 'private' }, alone: true },
  tripNoDriver: { parts: [], quantity: 'plain', usual: {}, alone: true },
  drivingTime: {
    parts: ['seconds', 'breakSeconds'],
    quantity: 'plain',
    usual: { seconds: 16_200, breakSeconds: 2700 },
    alone: true
  },
  noTrip: { parts: ['seconds'], quantity: 'plain', usual: { seconds: 604_800 }, alone: true }
}

export const kindOf = (type: string): Kind => kinds[type] ?? { parts: [], quantity: 'plain', usual: {} }

/** Comparisons of a measured value. */
export const comparesOf = (type: string): Compare[] =>
  type === 'attribute'
    ? ['equals', 'above', 'below', 'reached']
    : type === 'mileage'
      ? ['reached', 'above', 'below']
      : ['above', 'below', 'reached']

const empty: Omit<ConditionForm, 'key' | 'type'> = {
  compare: 'above',
  limit: null,
  clear: null,
  name: '',
  equals: '',
  number: 1,
  on: true,
  when: 'enter',
  geofences: [],
  seconds: 0,
  belowSpeed: null,
  radius: null,
  by: null,
  withinSeconds: 600,
  tank: 1,
  perSecond: null,
  purpose: '',
  breakSeconds: 900
}

let keys = 0
const quantityOf: Partial<Record<keyof ConditionForm, Quantity>> = {
  belowSpeed: 'speed',
  radius: 'metres',
  perSecond: 'rate'
}

/** A new condition of this type with its defaults. */
export function newCondition(type: string, units: UnitSystem): ConditionForm {
  const { usual, quantity } = kindOf(type)
  const form: ConditionForm = { ...empty, key: ++keys, type, ...usual }
  const shownAs = (value: number | null, as: Quantity | undefined) =>
    value === null || !as ? value : units === 'metric' ? value : Math.round(toUser(as, value, units))
  form.limit = shownAs(form.limit, quantity)
  for (const field of ['belowSpeed', 'radius', 'perSecond'] as const)
    form[field] = shownAs(form[field], quantityOf[field])
  return form
}

/** A condition of the API as a form. */
export function conditionForm(condition: Condition, units: UnitSystem): ConditionForm {
  const { quantity } = kindOf(condition.type)
  const shown = (value: number | null | undefined, as: Quantity): number | null =>
    value == null ? null : toUser(as, value, units)
  const form: ConditionForm = { ...newCondition(condition.type, units), clear: shown(condition.clear, quantity) }
  for (const compare of ['above', 'below', 'reached'] as const) {
    const limit = condition[compare]
    if (limit == null) continue
    form.compare = compare
    form.limit = shown(limit, quantity)
    if (condition.type === 'sensorTime') form.seconds = limit
  }
  if (condition.equals != null) {
    form.compare = 'equals'
    form.equals = typeof condition.equals === 'string' ? written(condition.equals) : JSON.stringify(condition.equals)
  }
  form.name = condition.name ?? ''
  form.number = condition.number ?? form.number
  form.on = condition.on ?? true
  form.when = condition.when ?? form.when
  form.geofences = condition.geofences ?? []
  form.seconds = condition.seconds ?? form.seconds
  form.belowSpeed = shown(condition.belowSpeed, 'speed') ?? form.belowSpeed
  form.radius = shown(condition.radius, 'metres') ?? form.radius
  form.by = condition.by ?? form.by
  form.withinSeconds = condition.withinSeconds ?? form.withinSeconds
  form.tank = condition.tank ?? 1
  form.perSecond = shown(condition.perSecond, 'rate') ?? form.perSecond
  form.purpose = condition.purpose ?? form.purpose
  form.breakSeconds = condition.breakSeconds ?? form.breakSeconds
  return form
}

/** A text that would be read as another type is put in quotes. */
const written = (text: string): string =>
  typeof valueOf(text) === 'string' && !text.startsWith('"') ? text : JSON.stringify(text)

/**
 * The value that an attribute is compared with: a number, yes or no, or a text (in quotes if it looks like one of
 * those).
 */
export function valueOf(text: string): string | number | boolean {
  const bare = text.trim()
  if (bare === 'true' || bare === 'false') return bare === 'true'
  if (bare !== '' && Number.isFinite(Number(bare))) return Number(bare)
  if (/^".*"$/.test(bare)) {
    try {
      return String(JSON.parse(bare))
    } catch {
      // Not valid JSON: taken as plain text.
    }
  }
  return bare
}

/** The condition for the API: only members of its type. */
export function conditionBody(form: ConditionForm, units: UnitSystem): Condition {
  const { parts, quantity } = kindOf(form.type)
  const sent = (value: number | null, as: Quantity): number | null =>
    value === null || !Number.isFinite(value) ? null : fromUser(as, value, units)
  const body: Condition = { type: form.type }
  for (const part of parts) {
    if (part === 'compare') {
      if (form.compare === 'equals') body.equals = valueOf(form.equals)
      else body[form.compare] = sent(form.limit, quantity)
    } else if (part === 'clear') {
      if (form.clear !== null && form.compare !== 'equals') body.clear = sent(form.clear, quantity)
    } else if (part === 'belowSpeed') body.belowSpeed = sent(form.belowSpeed, 'speed')
    else if (part === 'radius') body.radius = sent(form.radius, 'metres')
    else if (part === 'perSecond') body.perSecond = sent(form.perSecond, 'rate')
    else if (part === 'seconds' && form.type === 'sensorTime')
      body[form.compare === 'equals' ? 'above' : form.compare] = form.seconds
    else if (part === 'name') body.name = form.name.trim()
    else if (part === 'geofences') body.geofences = form.geofences
    else if (part === 'number') body.number = form.number
    else if (part === 'on') body.on = form.on
    else if (part === 'when') body.when = form.when
    else if (part === 'by') body.by = form.by
    else if (part === 'seconds') body.seconds = form.seconds
    else if (part === 'withinSeconds') body.withinSeconds = form.withinSeconds
    else if (part === 'tank') body.tank = form.tank
    else if (part === 'over') body.above = sent(form.limit, quantity)
    else if (part === 'purpose') body.purpose = form.purpose.trim()
    else if (part === 'breakSeconds') body.breakSeconds = form.breakSeconds
  }
  return body
}
