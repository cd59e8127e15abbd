// A value of a track over time, with no more points than a chart has pixels.
import { isGap, type Measure, type Track } from '$lib/map/track/track'

export type Points = [times: number[], values: (number | null)[]]

/**
 * The values of a track with at most two for each bucket of time, the least and the greatest, so that no peak is lost.
 * A null separates the two sides of a gap. Times are in seconds.
 */
export function pointsOf(track: Track, measure: Measure, buckets: number, convert: (value: number) => number): Points {
  const points: Points = [[], []]
  if (track.length === 0) return points
  const first = track.time[0]!
  const width = Math.max(1, (track.time[track.length - 1]! - first) / buckets)
  let bucket = -1
  let [least, greatest] = [-1, -1]
  const values = track[measure]
  const put = (at: number): void => {
    points[0].push(track.time[at]! / 1000)
    points[1].push(convert(values[at]!))
  }
  const flush = (): void => {
    if (least < 0) return
    put(Math.min(least, greatest))
    if (least !== greatest) put(Math.max(least, greatest))
    least = greatest = -1
  }
  for (let at = 0; at < track.length; at++) {
    const now = Math.floor((track.time[at]! - first) / width)
    const gap = at > 0 && isGap(track, at)
    if (now !== bucket || gap) flush()
    if (gap) {
      points[0].push(track.time[at - 1]! / 1000 + 0.001)
      points[1].push(null)
    }
    bucket = now
    const value = values[at]!
    if (Number.isNaN(value)) continue
    if (least < 0 || value < values[least]!) least = at
    if (greatest < 0 || value > values[greatest]!) greatest = at
  }
  flush()
  return points
}
