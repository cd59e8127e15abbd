// The colours of a reading on a track: six classes from low to high, in steps that are round in the user's unit.

const light = ['#3f51c9', '#0b7c93', '#2b8a3e', '#c77700', '#d9480f', '#b3122a']
const dark = ['#8ea2ff', '#3fc3dc', '#69db7c', '#ffc94d', '#ff9a5c', '#ff7088']

export const trackColours = (isDark: boolean): string[] => (isDark ? dark : light)

/** The colour of locations without the reading. */
export const unknownColour = (isDark: boolean): string => (isDark ? '#a3b0be' : '#7a8694')
/** The class of positions without the reading, after the others. */
export const unknownClass = light.length

export interface Scale {
  /** The upper limit of each class but the last, in the user's unit. */
  limits: number[]
  /** The class of a reading in the user's unit. */
  classOf: (value: number) => number
}

const steps = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 25, 30, 40, 50, 100, 150, 200, 250, 500]

/** The scale for speeds in the user's unit, chosen so that all classes are used, for hikers and aeroplanes alike. */
export function speedScale(speeds: ArrayLike<number>, convert: (speed: number) => number): Scale {
  const top = convert(highQuantile(speeds))
  const step = steps.find((candidate) => candidate * light.length >= top) ?? Math.ceil(top / light.length)
  const limits = light.slice(1).map((_, index) => step * (index + 1))
  const classOf = (speed: number): number => {
    if (!(speed > 0)) return 0
    return Math.min(light.length - 1, Math.floor(speed / step))
  }
  return { limits, classOf }
}

/** Steps for readings that vary little, such as a temperature. */
const fineSteps = [0.1, 0.2, 0.5, ...steps]

/** The scale for readings that do not begin at zero: from the low ones to the high ones. */
export function readingScale(values: ArrayLike<number>, convert: (value: number) => number): Scale {
  const sample = sampleOf(values, () => true)
  const [low, high] = [convert(quantile(sample, 0.02)), convert(quantile(sample, 0.98))]
  const span = (high - low) / light.length
  const step = fineSteps.find((candidate) => candidate >= span) ?? Math.ceil(span)
  const start = Math.floor(low / step)
  const limits = light.slice(1).map((_, index) => Number(((start + index + 1) * step).toFixed(1)))
  const classOf = (value: number): number => {
    if (Number.isNaN(value)) return unknownClass
    return Math.min(light.length - 1, Math.max(0, Math.floor(value / step) - start))
  }
  return { limits, classOf }
}

/** A high percentile of the speeds, so that one outlier does not flatten the scale. */
const highQuantile = (speeds: ArrayLike<number>): number =>
  quantile(
    sampleOf(speeds, (speed) => speed > 0),
    0.98
  )

const quantile = (sorted: number[], part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0

/** Some of the known values, ascending. */
function sampleOf(values: ArrayLike<number>, takes: (value: number) => boolean): number[] {
  const step = Math.max(1, Math.floor(values.length / 20_000))
  const sample: number[] = []
  for (let at = 0; at < values.length; at += step) {
    const value = values[at]!
    if (!Number.isNaN(value) && takes(value)) sample.push(value)
  }
  return sample.sort((a, b) => a - b)
}

export type Severity = 'info' | 'warning' | 'critical'

const severities: Record<'light' | 'dark', Record<Severity, string>> = {
  light: { info: '#0b5cc9', warning: '#8a5200', critical: '#b3261e' },
  dark: { info: '#7db4ff', warning: '#f4b957', critical: '#ff8f85' }
}

export const severityColours = (isDark: boolean): Record<Severity, string> => severities[isDark ? 'dark' : 'light']
