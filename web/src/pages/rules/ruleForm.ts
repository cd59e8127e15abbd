// A rule as form values, conversion from and to the API, and the API's errors by field.
import type { Schemas } from '$lib/api/client'
import { weekdayValues } from '$lib/api/schema'
import type { UnitSystem } from '$lib/access/preferences.svelte'
import { nobody, thenForm, thenInput, type ThenForm } from '$lib/notifications/recipients/people'
import { conditionBody, conditionForm, newCondition, type ConditionForm } from './conditions'
import { fromUser, toUser } from './units'

export type Rule = Schemas['Rule']
export type RuleInput = Schemas['RuleInput']
type Weekday = Schemas['Weekday']

export const weekdays = weekdayValues

export interface RuleForm {
  name: string
  description: string
  enabled: boolean
  /** Applies to all devices, including ones added later. */
  all: boolean
  devices: string[]
  groups: string[]
  conditions: ConditionForm[]
  forSeconds: number
  coolDownSeconds: number
  /** Positions that are less accurate than this are ignored by conditions about positions; in the user's units. */
  accuracy: number
  scheduled: boolean
  weekdays: Weekday[]
  from: string
  to: string
  timeZone: string
  alertName: string
  text: string
  critical: boolean
  /** Recipients in addition to those of the device, its groups or the account. */
  then: ThenForm
}

export function newRule(units: UnitSystem, type = 'speed'): RuleForm {
  return {
    name: '',
    description: '',
    enabled: true,
    all: true,
    devices: [],
    groups: [],
    conditions: [newCondition(type, units)],
    forSeconds: 0,
    coolDownSeconds: 0,
    accuracy: Math.round(toUser('metres', 500, units)),
    scheduled: false,
    weekdays: [...weekdays],
    from: '08:00',
    to: '18:00',
    timeZone: '',
    alertName: '',
    text: '',
    critical: false,
    then: nobody()
  }
}

export function ruleForm(rule: Rule, units: UnitSystem): RuleForm {
  const usual = newRule(units)
  return {
    name: rule.name,
    description: rule.description ?? '',
    enabled: rule.enabled,
    all: rule.allDevices,
    devices: rule.devices,
    groups: rule.groups,
    conditions: rule.conditions.map((condition) => conditionForm(condition, units)),
    forSeconds: rule.forSeconds,
    coolDownSeconds: rule.coolDownSeconds,
    accuracy: toUser('metres', rule.maxAccuracyMetres, units),
    scheduled: Boolean(rule.schedule),
    weekdays: rule.schedule?.weekdays ?? usual.weekdays,
    from: rule.schedule?.from ?? usual.from,
    to: rule.schedule?.to ?? usual.to,
    timeZone: rule.schedule?.timeZone ?? '',
    alertName: rule.alertName ?? '',
    text: rule.text ?? '',
    critical: rule.critical,
    then: thenForm({ ...rule.then, escalation: rule.then.escalation ?? null })
  }
}

const orNull = (text: string): string | null => text.trim() || null

export function ruleBody(form: RuleForm, units: UnitSystem): RuleInput {
  return {
    name: form.name.trim(),
    description: orNull(form.description),
    enabled: form.enabled,
    allDevices: form.all,
    devices: form.all ? [] : form.devices,
    groups: form.all ? [] : form.groups,
    conditions: form.conditions.map((condition) => conditionBody(condition, units)),
    forSeconds: form.forSeconds,
    coolDownSeconds: form.coolDownSeconds,
    maxAccuracyMetres: Math.round(fromUser('metres', form.accuracy, units)),
    schedule: form.scheduled
      ? { weekdays: form.weekdays, from: form.from, to: form.to, timeZone: orNull(form.timeZone) }
      : null,
    alertName: orNull(form.alertName),
    text: orNull(form.text),
    critical: form.critical,
    then: thenInput(form.critical ? form.then : { ...form.then, escalation: null })
  }
}

/** Errors of the API about one condition, by the fields of its form. */
export function conditionErrors(fields: Record<string, string>, index: number): Record<string, string> {
  const errors: Record<string, string> = {}
  const prefix = `conditions.${index}`
  for (const [field, detail] of Object.entries(fields)) {
    if (field !== prefix && !field.startsWith(`${prefix}.`)) continue
    const name = field.slice(prefix.length + 1).split('.')[0] ?? ''
    errors[['above', 'below', 'reached'].includes(name) ? 'limit' : name || 'type'] = detail
  }
  return errors
}

const shownAtFields =
  /^(name|description|devices|groups|allDevices|conditions\.\d+(\..*)?|forSeconds|coolDownSeconds|maxAccuracyMetres|schedule\.(weekdays|from|to|timeZone)(\..*)?|alertName|text)$/

/** Errors of the API that belong to no field of the form. */
export const otherErrors = (fields: Record<string, string>): string[] =>
  Object.entries(fields)
    .filter(([field]) => !shownAtFields.test(field))
    .map(([, detail]) => detail)
