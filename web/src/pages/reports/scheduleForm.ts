// The schedule of a saved report as form values, and what says when it is mailed.
import type { Schemas } from '$lib/api/client'
import { noPeople, peopleForm, peopleInput, type PeopleForm } from '$lib/notifications/recipients/people'
import type { Weekday } from '$lib/notifications/recipients/routing'

export type SavedReport = Schemas['SavedReport']
type Schedule = Schemas['ReportSchedule']

export const frequencies = ['daily', 'weekly', 'monthly'] as const
export const fileFormats = ['xlsx', 'pdf', 'csv'] as const
/** Days of a month, and its last one. */
export const monthDays = [...Array.from({ length: 31 }, (_, day) => String(day + 1)), 'last']

export interface ScheduleForm {
  enabled: boolean
  frequency: (typeof frequencies)[number]
  weekdays: Weekday[]
  monthDay: string
  time: string
  timeZone: string
  format: (typeof fileFormats)[number]
  people: PeopleForm
}

/** A new schedule: each Monday at seven, to this user. */
export const newSchedule = (timeZone: string, user: string): ScheduleForm => ({
  enabled: true,
  frequency: 'weekly',
  weekdays: ['monday'],
  monthDay: '1',
  time: '07:00',
  timeZone,
  format: 'xlsx',
  people: { ...noPeople(), users: [{ id: user, minimumSeverity: 'info' }] }
})

export const scheduleForm = (schedule: Schedule): ScheduleForm => ({
  enabled: schedule.enabled,
  frequency: schedule.frequency,
  weekdays: schedule.weekdays.length > 0 ? [...schedule.weekdays] : ['monday'],
  monthDay: schedule.monthDay ?? '1',
  time: schedule.time,
  timeZone: schedule.timeZone,
  format: schedule.format,
  people: peopleForm(schedule)
})

/** Fields that the frequency does not use are left out. */
export const scheduleInput = (form: ScheduleForm): Schemas['ReportScheduleInput'] => ({
  enabled: form.enabled,
  frequency: form.frequency,
  weekdays: form.frequency === 'weekly' ? [...form.weekdays] : [],
  monthDay: form.frequency === 'monthly' ? form.monthDay : null,
  time: form.time,
  timeZone: form.timeZone,
  format: form.format,
  ...peopleInput(form.people)
})
