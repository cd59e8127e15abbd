// A position in words: "21 km SW of Vigo, Spain".
import type { UnitSystem } from '../preferences.svelte'
import type { Near, NamedPlace } from './gazetteer'

const points = 'N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW'.split(' ') as readonly CompassPoint[]
export type CompassPoint =
  'N' | 'NNE' | 'NE' | 'ENE' | 'E' | 'ESE' | 'SE' | 'SSE' | 'S' | 'SSW' | 'SW' | 'WSW' | 'W' | 'WNW' | 'NW' | 'NNW'

/** Metres below which a position is simply at the place; the gazetteer knows places to some 300 m. */
const close = 1_500
const nauticalMile = 1_852
const mile = 1_609.344

export const compassPoint = (degrees: number): CompassPoint =>
  points[Math.round((((degrees % 360) + 360) % 360) / 22.5) % 16]!

/** What the words depend on: the user's units and language. */
export interface WordContext {
  units: UnitSystem
  language: string
  /** "{distance} {direction} of {place}" in the user's language. */
  away: (distance: string, point: CompassPoint, place: string) => string
  nauticalMiles: string
}

/** The name of a place with its country. */
export function nameOf({ name, country }: NamedPlace, language: string): string {
  if (!country) return name
  return `${name}, ${new Intl.DisplayNames(language, { type: 'region' }).of(country) ?? country}`
}

/** Whole units: the places are not known better. */
function rounded(metres: number, { units, language, nauticalMiles }: WordContext): string {
  const [unit, name] = {
    metric: [1_000, 'km'] as const,
    nautical: [nauticalMile, nauticalMiles] as const,
    imperial: [mile, 'mi'] as const
  }[units]
  return `${Math.round(metres / unit).toLocaleString(language)} ${name}`
}

export function inWords({ place, metres, bearing }: Near, context: WordContext): string {
  const name = nameOf(place, context.language)
  return metres < close ? name : context.away(rounded(metres, context), compassPoint(bearing), name)
}
