// A month as a calendar.
import { startOfDay, type Range } from './range'
import { wallOf } from '$lib/format/zoned'

export interface Month {
  /** As `2026-05`. */
  name: string
  range: Range
  days: Range[]
}

/** The month of an instant in a zone, or one that is some months later. */
export function monthOf(instant: number, zone: string | undefined, later = 0): Month {
  const [year, month] = wallOf(instant, zone).split('-').map(Number)
  const first = new Date(Date.UTC(year!, month! - 1 + later, 1))
  const dayCount = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate()
  const name = first.toISOString().slice(0, 7)
  // Noon in UTC is not always on the same date in the zone: the search starts a day before.
  let day = startOfDay(first.getTime() - 86_400_000, zone)
  while (!wallOf(day, zone).startsWith(`${name}-01`)) day = startOfDay(day, zone, 1)
  const days: Range[] = []
  for (let count = 0; count < dayCount; count++) {
    const to = startOfDay(day, zone, 1)
    days.push({ from: day, to })
    day = to
  }
  return { name, range: { from: days[0]!.from, to: day }, days }
}

/** Number of empty cells before the first day of a month, in weeks that begin with a weekday (1 is Monday). */
export function cellsBefore({ name }: Month, firstWeekday: number): number {
  const weekday = new Date(`${name}-01T00:00Z`).getUTCDay()
  return (weekday - firstWeekday + 7) % 7
}

/** The first day of the week in a region: 1 is Monday, 7 is Sunday. */
export function firstWeekdayOf(locale: string): number {
  const region = new Intl.Locale(locale) as { weekInfo?: Week; getWeekInfo?: () => Week }
  return (region.getWeekInfo?.() ?? region.weekInfo)?.firstDay ?? 1
}

interface Week {
  firstDay: number
}
