// Sizes as text.
import { number } from '$lib/format/format'
import { bytesIn } from './concerns'

/** A size in the unit in which it is best read. */
export function bytesText(count: number): string {
  const { value, unit } = bytesIn(count)
  return `${number(value, value < 10 && unit !== 'B' ? 1 : 0)} ${unit}`
}
