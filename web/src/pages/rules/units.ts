// Converts the measures of rules between the user's units and the API (km/h, kilometres, metres and Celsius).
import type { UnitSystem } from '$lib/access/preferences.svelte'

export type Quantity = 'speed' | 'percent' | 'temperature' | 'rpm' | 'distance' | 'metres' | 'rate' | 'plain'

const kilometres: Record<UnitSystem, number> = { metric: 1, imperial: 1.609344, nautical: 1.852 }
const speeds: Record<UnitSystem, string> = { metric: 'km/h', imperial: 'mph', nautical: 'kn' }
const distances: Record<UnitSystem, string> = { metric: 'km', imperial: 'mi', nautical: 'nmi' }
const metresPerFoot = 0.3048

export function unitOf(quantity: Quantity, units: UnitSystem): string {
  switch (quantity) {
    case 'speed':
      return speeds[units]
    case 'rate':
      return `${speeds[units]}/s`
    case 'distance':
      return distances[units]
    case 'metres':
      return units === 'imperial' ? 'ft' : 'm'
    case 'temperature':
      return units === 'imperial' ? '°F' : '°C'
    case 'percent':
      return '%'
    case 'rpm':
      return 'rpm'
    case 'plain':
      return ''
  }
}

function convert(quantity: Quantity, value: number, units: UnitSystem, back: boolean): number {
  if (quantity === 'temperature' && units === 'imperial') return back ? ((value - 32) * 5) / 9 : (value * 9) / 5 + 32
  let factor = 1
  if (quantity === 'speed' || quantity === 'rate' || quantity === 'distance') factor = kilometres[units]
  if (quantity === 'metres' && units === 'imperial') factor = metresPerFoot
  return back ? value * factor : value / factor
}

const shownDigits = 2
const round = (value: number, digits: number): number => Number(value.toFixed(digits))

/** A value of the API as it is shown. */
export const toUser = (quantity: Quantity, value: number, units: UnitSystem): number =>
  round(convert(quantity, value, units, false), shownDigits)

/**
 * Converts an entered value to the unit of the API: to the value with the fewest decimals that is shown as the entered
 * one. So 90 km/h, which is shown as 55.92 mph, stays 90 km/h when it is saved again.
 */
export function fromUser(quantity: Quantity, value: number, units: UnitSystem): number {
  const exact = convert(quantity, value, units, true)
  for (let digits = 0; digits < 6; digits++) {
    const rounder = round(exact, digits)
    if (toUser(quantity, rounder, units) === round(value, shownDigits)) return rounder
  }
  return round(exact, 6)
}
