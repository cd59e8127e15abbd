// Schedules and runs of saved reports in words.
import type { Schemas } from '$lib/api/client'
import { dateTime } from '$lib/format/format'
import { t } from '$lib/i18n/index.svelte'

/** "Every Mon, Thu at 07:00 (Europe/Madrid), XLSX". */
export function scheduleText(schedule: Schemas['ReportSchedule']): string {
  const days = schedule.weekdays.map((day) => t(`device.weekday.${day}`)).join(', ')
  const at = { time: schedule.time, zone: schedule.timeZone, format: schedule.format.toUpperCase() }
  if (schedule.frequency === 'weekly') return t('reports.say.weekly', { ...at, days })
  if (schedule.frequency === 'daily') return t('reports.say.daily', at)
  const { monthDay } = schedule
  return monthDay === 'last' ? t('reports.say.lastDay', at) : t('reports.say.monthly', { ...at, day: monthDay ?? '1' })
}

const pausedKeys = {
  off: 'reports.paused.off',
  ownerDeleted: 'reports.paused.ownerDeleted',
  ownerInactive: 'reports.paused.ownerInactive'
} as const

/** Why a schedule mails nothing at present. */
export const pausedText = (why: string): string => t(pausedKeys[why as keyof typeof pausedKeys] ?? pausedKeys.off)

/** How a run ended, and why if it failed. */
export function runText(run: Schemas['ReportRun']): string {
  const said = { time: dateTime(run.scheduledAt), error: run.error ?? '', count: run.recipients }
  return t(`reports.run.${run.state}`, said)
}
