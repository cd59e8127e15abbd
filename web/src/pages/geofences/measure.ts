// Sizes of shapes in the user's units.
import { distance, heightIn, number, unitOfHeight } from '$lib/format/format'
import { t } from '$lib/i18n/index.svelte'
import type { Shape } from '$lib/map/draw/drawShape'
import { sizeOf } from '$lib/map/draw/drawSize'
import { preferences, type UnitSystem } from '$lib/access/preferences.svelte'

/** Radii and widths are written in metres or feet. */
export const unitOfLength = unitOfHeight
export const lengthIn = (metres: number): number => Math.round(heightIn(metres))
export const lengthFrom = (value: number): number => Math.round((value / heightIn(1)) * 10) / 10

const kilometres: Record<UnitSystem, number> = { metric: 1, imperial: 1.609344, nautical: 1.852 }
const square: Record<UnitSystem, string> = { metric: 'km²', imperial: 'mi²', nautical: 'nmi²' }

export function area(squareMetres: number): string {
  const units = preferences.units
  if (units === 'metric' && squareMetres < 100_000) return `${number(squareMetres)} m²`
  const value = squareMetres / 1e6 / kilometres[units] ** 2
  return `${number(value, value < 10 ? 2 : value < 100 ? 1 : 0)} ${square[units]}`
}

/** A shape in a few words: "Circle, 12 km²". */
export function inWords(shape: Shape): string {
  const size = sizeOf(shape)
  return t(`geofences.words.${shape.kind}`, { size: 'area' in size ? area(size.area) : distance(size.length) })
}
