// The fields of a maintenance plan, and the body that they make.
import type { Schemas } from '$lib/api/client'
import type { Plan } from '$lib/maintenance/left'

type Input = Schemas['MaintenancePlanInput']

/** The value of a number field; an empty one is null, or undefined before it was used. */
export const optional = (value: number | string | null | undefined): number | null =>
  value === null || value === undefined || value === '' ? null : Number(value)

export interface PlanFields {
  deviceId: string
  name: string
  distance: number | null
  engineHours: number | null
  days: number | null
  months: number | null
  date: string
  soonDistance: number | null
  soonEngineHours: number | null
  soonDays: number | null
  notes: string
  /** Value of a date-time field. Empty means the present time, or no change of an existing plan. */
  lastDone: string
  odometer: number | null
  hourMeter: number | null
}

export const noFields = (): PlanFields => ({
  deviceId: '',
  name: '',
  distance: null,
  engineHours: null,
  days: null,
  months: null,
  date: '',
  soonDistance: null,
  soonEngineHours: null,
  soonDays: null,
  notes: '',
  lastDone: '',
  odometer: null,
  hourMeter: null
})

/** The fields of a plan; `wallOf` writes an instant as a date-time field. */
export const fieldsOfPlan = (plan: Plan, wallOf: (instant: string) => string): PlanFields => ({
  ...plan,
  distance: plan.distance ?? null,
  engineHours: plan.engineHours ?? null,
  days: plan.days ?? null,
  months: plan.months ?? null,
  soonDistance: plan.soonDistance ?? null,
  soonEngineHours: plan.soonEngineHours ?? null,
  soonDays: plan.soonDays ?? null,
  odometer: plan.odometer ?? null,
  hourMeter: plan.hourMeter ?? null,
  date: plan.date ?? '',
  notes: plan.notes ?? '',
  lastDone: wallOf(plan.lastDone)
})

/** The body of a request. A time that the field shows as before stays as it is, because fields have no seconds. */
export function inputOf(
  fields: PlanFields,
  before: Plan | null,
  dates: { wallOf: (instant: string) => string; instantOf: (wall: string) => string }
): Input {
  const isSame = before !== null && dates.wallOf(before.lastDone) === fields.lastDone
  return {
    deviceId: fields.deviceId,
    name: fields.name.trim(),
    distance: optional(fields.distance),
    engineHours: optional(fields.engineHours),
    days: optional(fields.days),
    months: optional(fields.months),
    date: fields.date || null,
    soonDistance: optional(fields.distance) === null ? null : optional(fields.soonDistance),
    soonEngineHours: optional(fields.engineHours) === null ? null : optional(fields.soonEngineHours),
    soonDays: hasCalendar(fields) ? optional(fields.soonDays) : null,
    notes: fields.notes.trim() || null,
    lastDone: isSame ? before.lastDone : fields.lastDone ? dates.instantOf(fields.lastDone) : null,
    odometer: optional(fields.odometer),
    hourMeter: optional(fields.hourMeter)
  }
}

/** Whether a plan has a limit by the calendar. */
export const hasCalendar = (fields: Pick<PlanFields, 'days' | 'months' | 'date'>): boolean =>
  optional(fields.days) !== null || optional(fields.months) !== null || fields.date !== ''
