// Local times of a time zone, for inputs of the browser, which have no zone.

/** The local time of an instant, as `2026-05-01T14:30`, in a zone or else in that of the browser. */
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

/** The instant of a local time in a zone, in milliseconds since 1970; a skipped hour counts as the next one. */
export function millisOf(wall: string, zone?: string | null): number {
  const wanted = Date.parse(`${wall}Z`)
  // An empty field has no time.
  if (Number.isNaN(wanted)) return wanted
  let instant = wanted
  // The offset from UTC is that of the result; a second pass corrects it near changes of the clock.
  for (let look = 0; look < 2; look++) instant += wanted - Date.parse(`${wallOf(instant, zone)}Z`)
  return instant
}

/** The instant of a local time in a zone. */
export const instantOf = (wall: string, zone?: string | null): string => new Date(millisOf(wall, zone)).toISOString()
