// How a chart of the track looks: the colours of the theme, times in the user's zone and language.
import uPlot from 'uplot'
import { hourCycle, number } from '$lib/format/format'
import { locale, preferences } from '$lib/access/preferences.svelte'
import { wallOf } from '$lib/format/zoned'
import type { Charted } from './series'

interface Asked {
  measure: Charted
  width: number
  last: boolean
  /** Milliseconds. */
  from: number
  to: number
}

const colours: Record<Charted, string> = {
  speed: '--accent',
  altitude: '--good',
  battery: '--warn',
  temperature: '--bad'
}
const daySeconds = 86_400

const colourOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

export function chartOptions({ measure, width, last, from, to }: Asked): uPlot.Options {
  const stroke = colourOf(colours[measure])
  const axis = { stroke: colourOf('--muted'), font: '11px "Noto Sans", sans-serif' }
  const grid = { stroke: colourOf('--line'), width: 1 }
  return {
    width,
    height: (measure === 'speed' ? 92 : 72) + (last ? 26 : 0),
    // The title stands above the chart.
    padding: [20, 30, last ? 0 : 4, 0],
    legend: { show: false },
    cursor: { show: false },
    select: { show: false, left: 0, top: 0, width: 0, height: 0 },
    tzDate: (seconds) => {
      const date = new Date(seconds * 1000)
      return preferences.timeZone ? uPlot.tzDate(date, preferences.timeZone) : date
    },
    scales: {
      x: { range: [from / 1000, Math.max(to, from + 1000) / 1000] },
      y: { range: (_, least, greatest) => rangeOf(measure, least, greatest) }
    },
    series: [{}, { stroke, fill: `${stroke}22`, width: 1.5, points: { show: false }, spanGaps: false }],
    axes: [
      {
        ...axis,
        grid,
        ticks: { show: false },
        show: last,
        size: 26,
        space: 70,
        values: (_, times) => times.map((at) => clockOf(at, times))
      },
      {
        ...axis,
        grid,
        ticks: { show: false },
        size: 50,
        space: 22,
        values: (_, values) => values.map((value) => number(value, 1))
      }
    ]
  }
}

/** Speed starts at 0 and battery is 0 to 100; other measurements get a margin. */
function rangeOf(measure: Charted, least: number | null, greatest: number | null): [number, number] {
  const [low, high] = [least ?? 0, greatest ?? 1]
  if (measure === 'battery') return [0, 100]
  if (measure === 'speed') return [0, Math.max(1, high * 1.1)]
  const room = Math.max(1, (high - low) * 0.15)
  return [low - room, high + room]
}

/** The time of day, or the date at midnight and where steps are days. */
function clockOf(at: number, all: number[]): string {
  const zone = { timeZone: preferences.timeZone ?? undefined }
  const date = new Date(at * 1000)
  const step = (all[1] ?? 0) - (all[0] ?? 0)
  const isMidnight = wallOf(at * 1000, preferences.timeZone).endsWith('T00:00')
  if (step >= daySeconds || isMidnight)
    return date.toLocaleDateString(locale(), { ...zone, day: 'numeric', month: 'short' })
  const seconds = step > 0 && step < 60 ? { second: '2-digit' as const } : {}
  return date.toLocaleTimeString(locale(), {
    ...zone,
    hour: '2-digit',
    minute: '2-digit',
    ...seconds,
    hourCycle: hourCycle()
  })
}
