// The time zone of a country, as far as the browser knows it.

interface WithZones {
  timeZones?: string[]
  getTimeZones?: () => string[]
}

/** The time zones of a country; empty for an unknown country, or if the browser does not know them. */
export function zonesOf(country: string): string[] {
  try {
    const region = new Intl.Locale(`und-${country}`) as WithZones
    return region.getTimeZones?.() ?? region.timeZones ?? []
  } catch {
    return []
  }
}

/** The time zone for a person who moves to a country: the present one if it is in that country. */
export function zoneAfter(country: string, present: string): string {
  const zones = zonesOf(country)
  return zones.includes(present) ? present : (zones[0] ?? present)
}
