// The cells of a report as text.
import { locale, preferences } from '$lib/access/preferences.svelte'
import { duration, hourCycle, number } from '$lib/format/format'

export interface Column {
  id: string
  title: string
  /** `text`, `dateTime`, `date`, `duration`, `distance`, `speed`, `number` or `count`. */
  type: string
  unit?: string | null
}

const digits: Partial<Record<string, number>> = { distance: 2, speed: 1, number: 5 }

/** The title of a column with its unit. */
export const titleOf = ({ title, unit }: Column): string => (unit ? `${title} (${unit})` : title)

export const isNumeric = ({ type }: Column): boolean => type !== 'text' && type !== 'dateTime' && type !== 'date'

/** A value in the reader's language and zone; empty if there is none. */
export function cellText({ type }: Column, value: string | number | null | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return type === 'duration' ? duration(value) : number(value, digits[type] ?? 0)
  if (type === 'dateTime') {
    return new Date(value).toLocaleString(locale(), {
      dateStyle: 'short',
      timeStyle: 'short',
      hourCycle: hourCycle(),
      timeZone: preferences.timeZone ?? undefined
    })
  }
  // A date has no zone: noon is on that date in every language.
  if (type === 'date') return new Date(`${value}T12:00Z`).toLocaleDateString(locale(), { timeZone: 'UTC' })
  return value
}
