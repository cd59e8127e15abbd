// Calls over time as the server answers them, and as a chart draws them.
import type { Schemas } from '$lib/api/client'

export type Usage = Schemas['Usage']

export interface Columns {
  /** Seconds since 1970, when each step begins. */
  times: number[]
  key: number[]
  /** On top of those by key, so that both together are seen. */
  all: number[]
}

/** What the chart draws: calls by key, and all. */
export function columns({ times, series }: Usage): Columns {
  const sum = (via: 'key' | 'console' | null): number[] =>
    times.map((_, index) =>
      series.reduce((total, one) => total + (via === null || one.via === via ? (one.calls[index] ?? 0) : 0), 0)
    )
  return { times: times.map((time) => Date.parse(time) / 1000), key: sum('key'), all: sum(null) }
}
