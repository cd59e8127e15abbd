// Converts recipients of alerts between form values and the API.
import type { Schemas } from '$lib/api/client'
import { weekdayValues } from '$lib/api/schema'

type Recipient = Schemas['Recipient']
type Contact = Schemas['Contact']
type RecipientInput = Schemas['RecipientInput']
export type Weekday = Schemas['Weekday']

/** A webhook that alerts are routed to. */
export type RoutedWebhook = Schemas['AlertRouting']['webhooks'][number]

export const weekdays = weekdayValues

/** The values of `Recipient.status` in the API. */
export type RecipientStatus = 'active' | 'unsubscribed' | 'unconfirmed'

export interface RecipientForm {
  channel: Schemas['Channel']
  address: string
  name: string
  minimumSeverity: Schemas['Severity']
  /** Notified at any time, or only in the hours below. */
  anyTime: boolean
  days: Weekday[]
  from: string
  to: string
  scheduleZone: string
  timeZone: string
  units: Schemas['Units']
  language: string
  /** Whether messages reach them. Only the recipients can change it. */
  status: RecipientStatus
}

export const newRecipient = (language: string, units: Schemas['Units']): RecipientForm => ({
  channel: 'email',
  address: '',
  name: '',
  minimumSeverity: 'info',
  anyTime: true,
  days: [...weekdays],
  from: '08:00',
  to: '20:00',
  scheduleZone: '',
  timeZone: '',
  units,
  language,
  status: 'active'
})

export function formOf(recipient: Recipient): RecipientForm {
  const { schedule } = recipient
  return {
    channel: recipient.channel,
    address: recipient.address,
    name: recipient.name ?? '',
    minimumSeverity: recipient.minimumSeverity,
    anyTime: !schedule,
    days: schedule ? [...schedule.weekdays] : [...weekdays],
    from: schedule?.from ?? '08:00',
    // A time field has no 24:00; 00:00 means the same end of the day.
    to: schedule?.to === '24:00' ? '00:00' : (schedule?.to ?? '20:00'),
    scheduleZone: schedule?.timeZone ?? '',
    timeZone: recipient.timeZone ?? '',
    units: recipient.units,
    language: recipient.language,
    status: (recipient.status ?? 'active') as RecipientStatus
  }
}

export function inputOf(form: RecipientForm): RecipientInput {
  return {
    channel: form.channel,
    address: form.address.trim(),
    name: form.name.trim() || null,
    minimumSeverity: form.minimumSeverity,
    schedule: form.anyTime
      ? null
      : {
          weekdays: weekdays.filter((day) => form.days.includes(day)),
          from: form.from,
          to: form.to,
          timeZone: form.scheduleZone || null
        },
    timeZone: form.timeZone || null,
    units: form.units,
    language: form.language
  }
}

/** A contact of a group: without schedule and severity, which are set where the group is named. */
export const contactFormOf = (contact: Contact): RecipientForm =>
  formOf({ ...contact, minimumSeverity: 'info', schedule: null })

export function contactInputOf(form: RecipientForm): Schemas['ContactInput'] {
  const { channel, address, name, timeZone, units, language } = inputOf(form)
  return { channel, address, name, timeZone, units, language }
}

/** Whether the days are all, Monday to Friday, the weekend, or others. */
export function daysKind(days: Weekday[]): 'all' | 'working' | 'weekend' | 'some' {
  const has = (some: readonly Weekday[]): boolean =>
    some.length === days.length && some.every((day) => days.includes(day))
  if (has(weekdays)) return 'all'
  if (has(weekdays.slice(0, 5))) return 'working'
  return has(weekdays.slice(5)) ? 'weekend' : 'some'
}
