// The colours of speeds on a track: six classes from slow to fast, in steps that are round in the user's unit.

const light = ['#3f51c9', '#0b7c93', '#2b8a3e', '#c77700', '#d9480f', '#b3122a']
const dark = ['#8ea2ff', '#3fc3dc', '#69db7c', '#ffc94d', '#ff9a5c', '#ff7088']

export const speedColours = (isDark: boolean): string[] => (isDark ? dark : light)

export interface SpeedScale {
  /** Where each class but the last ends, in the user's unit. */
  limits: number[]
  /** The class of a speed in the user's unit. */
  classOf: (speed: number) => number
}

const steps = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 25, 30, 40, 50, 100, 150, 200, 250, 500]

/** The scale for speeds, put into the user's unit, so that all classes are used: hikers and aeroplanes alike. */
export function speedScale(speeds: ArrayLike<number>, convert: (speed: number) => number): SpeedScale {
  const top = convert(highQuantile(speeds))
  const step = steps.find((candidate) => candidate * light.length >= top) ?? Math.ceil(top / light.length)
  const limits = light.slice(1).map((_, index) => step * (index + 1))
  const classOf = (speed: number): number => {
    if (!(speed > 0)) return 0
    return Math.min(light.length - 1, Math.floor(speed / step))
  }
  return { limits, classOf }
}

/** A high percentile of the speeds, so that one outlier does not flatten the scale. */
function highQuantile(speeds: ArrayLike<number>): number {
  const step = Math.max(1, Math.floor(speeds.length / 20_000))
  const sample: number[] = []
  for (let at = 0; at < speeds.length; at += step) if (speeds[at]! > 0) sample.push(speeds[at]!)
  sample.sort((a, b) => a - b)
  return sample[Math.floor(sample.length * 0.98)] ?? 0
}

export type Severity = 'info' | 'warning' | 'critical'

const severities: Record<'light' | 'dark', Record<Severity, string>> = {
  light: { info: '#0b5cc9', warning: '#8a5200', critical: '#b3261e' },
  dark: { info: '#7db4ff', warning: '#f4b957', critical: '#ff8f85' }
}

export const severityColours = (isDark: boolean): Record<Severity, string> => severities[isDark ? 'dark' : 'light']
