// Converts the server's counts of API calls to the columns of a chart.
import type { Schemas } from '$lib/api/client'

export type Usage = Schemas['Usage']

export interface Columns {
  /** Start of each step, in seconds since 1970. */
  times: number[]
  key: number[]
  /** All calls, including those by key, which are drawn in front. */
  all: number[]
}

/** The series of the chart: calls by key, and all calls. */
export function columns({ times, series }: Usage): Columns {
  const sum = (via: 'key' | 'console' | null): number[] =>
    times.map((_, index) =>
      series.reduce((total, one) => total + (via === null || one.via === via ? (one.calls[index] ?? 0) : 0), 0)
    )
  return { times: times.map((time) => Date.parse(time) / 1000), key: sum('key'), all: sum(null) }
}
