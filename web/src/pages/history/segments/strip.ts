// Where segments, alerts and clock times stand on the strip of the timeline.
import { millisOf, wallOf } from '$lib/format/zoned'
import { beginOf, endOf, type Segment } from '$lib/trips/segments'
import { startOfDay, type Range } from '$lib/ui/time/range'
import type { Alert } from '$lib/pages/history/load'

export interface Block {
  segment: Segment
  /** In percent of the strip. */
  left: number
  width: number
  /** The part of it with the engine on while standing, in percent of the block. */
  idling: number
}

export interface Mark {
  alert: Alert
  time: number
  left: number
}

export const percentAt = (time: number, { from, to }: Range): number =>
  to > from ? Math.min(100, Math.max(0, ((time - from) / (to - from)) * 100)) : 0

/** The blocks of a strip; those narrower than `least` percent are left out, because nobody could see or press them. */
export function blocksOf(segments: Segment[], span: Range, least = 0): Block[] {
  return segments.flatMap((segment) => {
    const left = percentAt(beginOf(segment), span)
    const width = percentAt(endOf(segment), span) - left
    if (width <= least) return []
    const seconds = (endOf(segment) - beginOf(segment)) / 1000
    return [{ segment, left, width, idling: Math.min(100, (segment.idlingSeconds / seconds) * 100) }]
  })
}

/** The alerts within the strip, oldest first. */
export const marksOf = (alerts: Alert[], span: Range): Mark[] =>
  alerts
    .map((alert) => ({ alert, time: Date.parse(alert.dateTime) }))
    .filter(({ time }) => time >= span.from && time <= span.to)
    .sort((a, b) => a.time - b.time)
    .map((mark) => ({ ...mark, left: percentAt(mark.time, span) }))

const hour = 3_600_000
const steps = [0.25, 0.5, 1, 2, 3, 6, 12, 24, 48, 96, 168, 336].map((hours) => hours * hour)

/** Round clock times of a zone within a period, at most `most`. */
export function ticksOf({ from, to }: Range, zone: string | undefined, most: number): number[] {
  const step = steps.find((candidate) => (to - from) / candidate <= most) ?? to - from
  const ticks: number[] = []
  if (step >= 24 * hour) {
    const days = step / (24 * hour)
    for (let day = startOfDay(from, zone); day <= to; day = startOfDay(day, zone, days))
      if (day >= from) ticks.push(day)
    return ticks
  }
  for (let day = startOfDay(from, zone); day <= to; day = startOfDay(day, zone, 1)) {
    // By the clock, and not by adding hours: the day may have 23 or 25.
    const date = wallOf(day, zone).slice(0, 10)
    for (let clock = 0; clock < 24 * hour; clock += step) {
      const at = millisOf(`${date}T${new Date(clock).toISOString().slice(11, 16)}`, zone)
      if (at >= from && at <= to && at > (ticks.at(-1) ?? -Infinity)) ticks.push(at)
    }
  }
  return ticks
}
