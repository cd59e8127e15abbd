// Sums of a column for each day of a report, for the chart.
import { wallOf } from '$lib/format/zoned'

export type Row = Record<string, string | number | null>

/** Columns that a chart may show, the first that the report has. */
const summed = ['distance', 'engine', 'idling', 'duration'] as const
export type Summed = (typeof summed)[number]

/** More days than this are months of the calendar, which are drawn instead. */
const mostDays = 100

export class DaySums {
  readonly #days = new Map<string, Map<Summed, number>>()
  /** Of visits to geofences, the time is drawn rather than the distance. */
  #isOfVisits = false

  constructor(private readonly zone?: string | null) {}

  /** Adds a row, on the date that it has or begins. */
  add(row: Row): void {
    const day = this.#dayOf(row)
    if (!day) return
    this.#isOfVisits ||= typeof row.entry === 'string'
    const sums = this.#days.get(day) ?? new Map<Summed, number>()
    for (const column of summed) {
      const value = row[column]
      if (typeof value === 'number') sums.set(column, (sums.get(column) ?? 0) + value)
    }
    this.#days.set(day, sums)
  }

  /** The column to draw and its sums, oldest first; null if nothing can be drawn. */
  get chart(): { column: Summed; names: string[]; values: number[] } | null {
    const has = (one: Summed): boolean => [...this.#days.values()].some((sums) => (sums.get(one) ?? 0) > 0)
    const column = this.#isOfVisits && has('duration') ? 'duration' : summed.find(has)
    if (!column) return null
    const whole = this.#days.size > mostDays
    const sums = new Map<string, number>()
    for (const [day, values] of this.#days) {
      const name = whole ? day.slice(0, 7) : day
      sums.set(name, (sums.get(name) ?? 0) + (values.get(column) ?? 0))
    }
    const names = [...sums.keys()].sort()
    return { column, names, values: names.map((name) => sums.get(name) ?? 0) }
  }

  #dayOf({ date, month, from, entry }: Row): string | null {
    if (typeof date === 'string') return date
    if (typeof month === 'string') return month
    const begin = from ?? entry
    return typeof begin === 'string' ? wallOf(begin, this.zone).slice(0, 10) : null
  }
}
