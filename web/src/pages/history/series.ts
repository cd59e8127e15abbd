// Series that the charts of a track can show, and their units.
import { heightIn, speedIn, unitOfHeight, unitOfSpeed } from '$lib/format/format'
import type { Measure, Track } from '$lib/map/track/track'
import { preferences } from '$lib/access/preferences.svelte'

export type Charted = Exclude<Measure, 'course'>
export const charted: Charted[] = ['speed', 'altitude', 'battery', 'temperature']

const same = (value: number): number => value
const isImperial = (): boolean => preferences.units === 'imperial'

/** Converts a value to the user's unit, and names that unit. */
export function unitOf(measure: Charted): { convert: (value: number) => number; unit: string } {
  if (measure === 'speed') return { convert: speedIn, unit: unitOfSpeed() }
  if (measure === 'altitude') return { convert: heightIn, unit: unitOfHeight() }
  if (measure === 'battery') return { convert: same, unit: '%' }
  return isImperial() ? { convert: (celsius) => (celsius * 9) / 5 + 32, unit: '°F' } : { convert: same, unit: '°C' }
}

/** The measurements that the track has values of. */
export const seriesOf = (track: Track): Charted[] =>
  charted.filter((measure) => {
    let known = 0
    for (let at = 0; at < track.length && known < 2; at++) if (!Number.isNaN(track[measure][at]!)) known++
    return known === 2
  })
