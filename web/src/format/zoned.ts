// The wall clock of a time zone, for inputs of the browser that have no zone.

/** An instant as `2026-05-01T14:30` by the clock of a zone; the browser's own when none is given. */
export function wallOf(instant: string | number, zone?: string | null): string {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone ?? undefined,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit'
  }).formatToParts(new Date(instant))
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? '00'
  return `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}`
}

/** When the clock of a zone shows a time, in milliseconds since 1970; an hour that is skipped counts as the next one. */
export function millisOf(wall: string, zone?: string | null): number {
  const wanted = Date.parse(`${wall}Z`)
  // An empty field shows no time at all.
  if (Number.isNaN(wanted)) return wanted
  let instant = wanted
  // The offset from UTC is that of the result; a second pass corrects it near changes of the clock.
  for (let look = 0; look < 2; look++) instant += wanted - Date.parse(`${wallOf(instant, zone)}Z`)
  return instant
}

/** The instant at which the clock of a zone shows a time. */
export const instantOf = (wall: string, zone?: string | null): string => new Date(millisOf(wall, zone)).toISOString()
