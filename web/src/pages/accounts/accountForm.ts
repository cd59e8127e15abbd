// Form values of the account and its sending limits, converted from and to the API.
import type { Schemas } from '$lib/api/client'

type Figure = number | null | undefined

export interface AccountForm {
  name: string
  timeZone: string
  retentionDays: Figure
  expiryNoticeDays: Figure
  emergencyProcedure: string
  /** One per line. */
  quickReplies: string
}

/** Quick replies from lines; null without any, for those of the console. */
function linesOf(text: string): string[] | null {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  return lines.length > 0 ? lines : null
}

export const formOf = ({ name, timeZone, settings }: Schemas['Account']): AccountForm => ({
  name,
  timeZone,
  retentionDays: settings.retentionDays ?? null,
  expiryNoticeDays: settings.expiryNoticeDays,
  emergencyProcedure: settings.emergencyProcedure ?? '',
  quickReplies: (settings.quickReplies ?? []).join('\n')
})

export const inputOf = (form: AccountForm): Schemas['AccountInput'] => ({
  name: form.name.trim(),
  timeZone: form.timeZone,
  settings: {
    expiryNoticeDays: form.expiryNoticeDays ?? 0,
    retentionDays: form.retentionDays ?? null,
    emergencyProcedure: form.emergencyProcedure.trim() || null,
    quickReplies: linesOf(form.quickReplies)
  }
})

export interface SendingForm {
  emailEnabled: boolean
  smsEnabled: boolean
  smsDailySegments: Figure
  smsMonthlySegments: Figure
  /** Separated by blanks or commas. */
  smsPrefixes: string
  emailDaily: Figure
  emailRecipientHourly: Figure
}

export const sendingForm = (settings: Schemas['NotificationSettings']): SendingForm => ({
  emailEnabled: settings.emailEnabled,
  smsEnabled: settings.smsEnabled,
  smsDailySegments: settings.smsDailySegments ?? null,
  smsMonthlySegments: settings.smsMonthlySegments ?? null,
  smsPrefixes: settings.smsPrefixes.join(', '),
  emailDaily: settings.emailDaily ?? null,
  emailRecipientHourly: settings.emailRecipientHourly ?? null
})

/** SMS prefixes from text: a missing + is added, and 00 is read as +. */
export const prefixesOf = (text: string): string[] =>
  text
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map((prefix) => (prefix.startsWith('+') ? prefix : `+${prefix.replace(/^00/, '')}`))

export const sendingInput = (form: SendingForm): Schemas['NotificationSettingsInput'] => ({
  emailEnabled: form.emailEnabled,
  smsEnabled: form.smsEnabled,
  smsDailySegments: form.smsDailySegments ?? null,
  smsMonthlySegments: form.smsMonthlySegments ?? null,
  smsPrefixes: prefixesOf(form.smsPrefixes),
  emailDaily: form.emailDaily ?? null,
  emailRecipientHourly: form.emailRecipientHourly ?? null
})
