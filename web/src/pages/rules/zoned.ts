// Instants as the browser's own date field writes them, by the clock of any zone.

/** What a clock of the zone shows at an instant: "2026-05-01T14:30". */
export function clockAt(instant: number, zone: string | null): string {
  const parts = new Intl.DateTimeFormat('en-CA', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: zone ?? undefined
  }).formatToParts(instant)
  const part = (type: string): string => parts.find((found) => found.type === type)?.value ?? '00'
  return `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}`
}

/** When a clock of the zone shows this; an hour that is skipped counts as the next one. */
export function instantOf(shown: string, zone: string | null): number {
  const wanted = Date.parse(`${shown}Z`)
  // An empty field shows no time at all.
  if (Number.isNaN(wanted)) return wanted
  let instant = wanted
  // The second round mends what the first got wrong near a change of the clocks.
  for (let round = 0; round < 2; round++) instant += wanted - Date.parse(`${clockAt(instant, zone)}Z`)
  return instant
}
