// Periods in the days and clock times of a time zone.
export interface Range {
  /** Milliseconds; the end is exclusive. */
  from: number
  to: number
}

export const presets = ['today', 'yesterday', 'week'] as const
export type Preset = (typeof presets)[number]

const fields = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const

/** The local time in a zone, as if it were UTC. A zone of undefined is the browser's own. */
function clockIn(instant: number, zone: string | undefined): number {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric'
  })
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]))
  const [year, month, day, hour, minute, second] = fields.map((field) => parts.get(field) ?? 0)
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second)
}

/** The instant of a local time in a zone; the first if the local time occurs twice. */
function instantOf(clock: number, zone: string | undefined): number {
  // Offsets before and after cover every change of the clock near by.
  const offsets = [clock - 86_400_000, clock + 86_400_000].map((near) => clockIn(near, zone) - near)
  const candidates = offsets.map((offset) => clock - offset).sort((a, b) => a - b)
  return candidates.find((instant) => clockIn(instant, zone) === clock) ?? candidates.at(-1) ?? clock
}

/** Midnight at the start of the day of an instant, plus some days. */
export function startOfDay(instant: number, zone: string | undefined, days = 0): number {
  const clock = new Date(clockIn(instant, zone))
  return instantOf(Date.UTC(clock.getUTCFullYear(), clock.getUTCMonth(), clock.getUTCDate() + days), zone)
}

/** The day of an instant. */
export const dayOf = (instant: number, zone: string | undefined): Range => ({
  from: startOfDay(instant, zone),
  to: startOfDay(instant, zone, 1)
})

export function rangeOf(preset: Preset, zone: string | undefined, now: number): Range {
  const tomorrow = startOfDay(now, zone, 1)
  if (preset === 'today') return { from: startOfDay(now, zone), to: tomorrow }
  if (preset === 'yesterday') return { from: startOfDay(now, zone, -1), to: startOfDay(now, zone) }
  return { from: startOfDay(now, zone, -6), to: tomorrow }
}

/** An instant as the value of a date-time field: `2026-05-01T12:00`. */
export const toField = (instant: number, zone: string | undefined): string =>
  new Date(clockIn(instant, zone)).toISOString().slice(0, 16)

/** The instant of a date-time field's value; null when it is not valid. */
export function fromField(text: string, zone: string | undefined): number | null {
  const clock = Date.parse(`${text}Z`)
  return Number.isNaN(clock) ? null : instantOf(clock, zone)
}

/** The range in a URL, else today. */
export function rangeInQuery(
  query: URLSearchParams,
  zone: string | undefined,
  now: number
): Range & { preset: Preset | null } {
  const named = presets.find((preset) => preset === query.get('range'))
  const [from, to] = [Date.parse(query.get('from') ?? ''), Date.parse(query.get('to') ?? '')]
  if (!named && from < to) return { from, to, preset: null }
  return { ...rangeOf(named ?? 'today', zone, now), preset: named ?? 'today' }
}
