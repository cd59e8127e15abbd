// The fields of a plan, and the body that they make.
import { instantOf, wallOf } from '$lib/format/zoned'
import { isNobody, nobody, thenForm, thenInput, type ThenForm } from '$lib/notifications/recipients/people'
import type { Plan, PlanKind, Waypoint } from '$lib/plans/plan'

export const kinds: PlanKind[] = ['voyage', 'hike', 'shift', 'work', 'other']
export const wordKinds = ['checkIn', 'end', 'pause', 'resume', 'extend'] as const
export type WordKind = (typeof wordKinds)[number]

/** The most of each list that the server accepts. */
export const most = { devices: 20, travellers: 50, waypoints: 200, times: 48, words: 20, geofences: 20 }

export interface TravellerFields {
  name: string
  phone: string
  email: string
  language: string
  note: string
}

export interface WaypointFields {
  name: string
  latitude: number
  longitude: number
  /** Value of a date-time field; empty for none. */
  time: string
  radius: number | null
}

export const craftTexts = ['name', 'type', 'callSign', 'mmsi', 'colour', 'description', 'equipment'] as const

export const everyUnits = { minutes: 1, hours: 60, days: 1440 } as const
export type EveryUnit = keyof typeof everyUnits

export interface PlanFields {
  name: string
  kind: PlanKind
  description: string
  template: boolean
  devices: string[]
  travellers: TravellerFields[]
  notify: ThenForm
  craft: Record<(typeof craftTexts)[number], string>
  photoDevice: string
  waypoints: WaypointFields[]
  start: string
  autoStart: boolean
  expectedArrival: string
  endAtDestination: boolean
  timeZone: string
  every: number | null
  everyUnit: EveryUnit
  times: string[]
  by: { message: boolean; location: boolean; words: boolean; geofences: string[] }
  /** Minutes after a missed check-in, each counted from its deadline. */
  graceMinutes: number | null
  nudge: boolean
  warnAfter: number | null
  alarmAfter: number | null
  earlyMinutes: number | null
  /** Separated by commas; empty for the built-in words. */
  words: Record<WordKind, string>
}

export const emptyTraveller = (language: string): TravellerFields => ({
  name: '',
  phone: '',
  email: '',
  language,
  note: ''
})

const noTexts = <K extends string>(names: readonly K[]): Record<K, string> =>
  Object.fromEntries(names.map((name) => [name, ''])) as Record<K, string>

export const emptyPlan = (): PlanFields => ({
  name: '',
  kind: 'voyage',
  description: '',
  template: false,
  devices: [],
  travellers: [],
  notify: nobody(),
  craft: noTexts(craftTexts),
  photoDevice: '',
  waypoints: [],
  start: '',
  autoStart: false,
  expectedArrival: '',
  endAtDestination: false,
  timeZone: '',
  every: 6,
  everyUnit: 'hours',
  times: [],
  by: { message: true, location: true, words: true, geofences: [] },
  graceMinutes: 15,
  nudge: true,
  warnAfter: 60,
  alarmAfter: 120,
  earlyMinutes: 60,
  words: noTexts(wordKinds)
})

type Zone = string | null | undefined

/** The fields of a plan; times are shown in a zone. */
export function fieldsOfPlan(plan: Plan, zone: Zone): PlanFields {
  const wall = (instant: string | null | undefined): string => (instant ? wallOf(instant, zone) : '')
  const every = plan.checkIns.everyMinutes ?? null
  const everyUnit = unitOf(every)
  return {
    name: plan.name,
    kind: plan.kind,
    description: plan.description ?? '',
    template: plan.template,
    devices: [...plan.devices],
    travellers: plan.travellers.map((one) => ({
      name: one.name,
      phone: one.phone ?? '',
      email: one.email ?? '',
      language: one.language ?? 'en',
      note: one.note ?? ''
    })),
    notify: plan.notify ? thenForm(plan.notify) : nobody(),
    craft: Object.fromEntries(craftTexts.map((name) => [name, plan.craft?.[name] ?? ''])) as PlanFields['craft'],
    photoDevice: plan.craft?.photoDevice ?? '',
    waypoints: plan.waypoints.map((one) => ({
      name: one.name ?? '',
      latitude: one.latitude,
      longitude: one.longitude,
      time: wall(one.time),
      radius: one.radius ?? null
    })),
    start: wall(plan.start),
    autoStart: plan.autoStart,
    expectedArrival: wall(plan.expectedArrival),
    endAtDestination: plan.endAtDestination,
    timeZone: plan.timeZone ?? '',
    every: every === null ? null : every / everyUnits[everyUnit],
    everyUnit,
    times: [...plan.checkIns.times],
    by: { ...plan.checkIns.by, geofences: [...plan.checkIns.by.geofences] },
    graceMinutes: plan.graceMinutes,
    nudge: plan.nudge,
    warnAfter: plan.graceMinutes + plan.warnMinutes,
    alarmAfter: plan.graceMinutes + plan.alarmMinutes,
    earlyMinutes: plan.earlyMinutes,
    words: Object.fromEntries(
      wordKinds.map((kind) => [kind, (plan.words?.[kind] ?? []).join(', ')])
    ) as PlanFields['words']
  }
}

/** The largest unit in which an interval is whole. */
const unitOf = (minutes: number | null): EveryUnit =>
  minutes === null || minutes % 60 === 0 ? (minutes !== null && minutes % 1440 === 0 ? 'days' : 'hours') : 'minutes'

const numberIn = (value: number | string | null | undefined): number | null =>
  value === null || value === undefined || value === '' ? null : Number(value)

export const wordsIn = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)

/** The minutes of the interval; null for none. */
export const everyMinutesOf = ({ every, everyUnit }: Pick<PlanFields, 'every' | 'everyUnit'>): number | null => {
  const amount = numberIn(every)
  return amount === null ? null : Math.round(amount * everyUnits[everyUnit])
}

/** The ladder as the server counts it: the later steps from the end of the grace. */
export function ladderOf(fields: Pick<PlanFields, 'graceMinutes' | 'nudge' | 'warnAfter' | 'alarmAfter'>) {
  const graceMinutes = numberIn(fields.graceMinutes) ?? 0
  const after = (value: number | null): number => Math.max(0, (numberIn(value) ?? 0) - graceMinutes)
  return {
    graceMinutes,
    nudge: fields.nudge,
    warnMinutes: after(fields.warnAfter),
    alarmMinutes: after(fields.alarmAfter)
  }
}

/** What is wrong with the ladder: each step comes after the one before it. */
export function ladderFault(fields: Pick<PlanFields, 'graceMinutes' | 'warnAfter' | 'alarmAfter'>) {
  const [grace, warn, alarm] = [fields.graceMinutes, fields.warnAfter, fields.alarmAfter].map(
    (one) => numberIn(one) ?? 0
  )
  if (warn! < grace!) return 'warnAfter'
  return alarm! < warn! ? 'alarmAfter' : null
}

export const checkInsOf = (fields: PlanFields): Plan['checkIns'] => ({
  everyMinutes: everyMinutesOf(fields),
  times: [...new Set(fields.times.filter(Boolean))].sort(),
  by: { ...fields.by, geofences: [...fields.by.geofences] }
})

/** The body of a request. A time that its field shows as before stays as it is, because fields have no seconds. */
export function inputOfPlan(fields: PlanFields, before: Plan | null, zone: Zone) {
  const text = (value: string): string | null => value.trim() || null
  const known = new Map<string, string>()
  for (const instant of before ? timesOf(before) : []) known.set(wallOf(instant, zone), instant)
  const instant = (wall: string): string | null => (wall ? (known.get(wall) ?? instantOf(wall, zone)) : null)
  const craft = Object.fromEntries(craftTexts.map((name) => [name, text(fields.craft[name])]))
  const hasCraft = Object.values(craft).some(Boolean) || Boolean(fields.photoDevice)
  const words = Object.fromEntries(
    wordKinds.map((kind) => {
      const all = wordsIn(fields.words[kind])
      return [kind, all.length > 0 ? all : null]
    })
  )
  return {
    name: fields.name.trim(),
    kind: fields.kind,
    description: text(fields.description),
    template: fields.template,
    devices: [...fields.devices],
    travellers: fields.travellers.map(({ name, phone, email, language, note }) => ({
      name: name.trim(),
      phone: text(phone.replace(/[\s()-]/g, '')),
      email: text(email),
      language,
      note: text(note)
    })),
    notify: isNobody(fields.notify) && fields.notify.webhooks.length === 0 ? null : thenInput(fields.notify),
    craft: hasCraft ? { ...craft, photoDevice: fields.photoDevice || null } : null,
    waypoints: fields.waypoints.map((one) => ({
      name: text(one.name),
      latitude: one.latitude,
      longitude: one.longitude,
      time: instant(one.time),
      radius: numberIn(one.radius)
    })),
    start: instant(fields.start),
    autoStart: fields.autoStart && fields.start !== '',
    expectedArrival: instant(fields.expectedArrival),
    endAtDestination: fields.endAtDestination && fields.waypoints.length > 0,
    timeZone: fields.timeZone || null,
    checkIns: checkInsOf(fields),
    ...ladderOf(fields),
    earlyMinutes: numberIn(fields.earlyMinutes) ?? 0,
    words: Object.values(words).some(Boolean) ? words : null
  }
}

const timesOf = ({ start, expectedArrival, waypoints }: Plan): string[] =>
  [start, expectedArrival, ...waypoints.map(({ time }) => time)].filter((time) => time != null)

/** The fields of waypoints of the map or of a file. */
export const waypointAt = (
  point: Pick<Waypoint, 'latitude' | 'longitude'> & { name?: string | null; time?: string | null },
  zone: Zone
): WaypointFields => ({
  name: point.name ?? '',
  latitude: Number(point.latitude.toFixed(6)),
  longitude: Number(point.longitude.toFixed(6)),
  time: point.time ? wallOf(point.time, zone) : '',
  radius: null
})
