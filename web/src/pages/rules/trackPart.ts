// The part of a track between two instants, cut where they fall between two locations.
import type { Position } from '$lib/map/draw/drawShape'

export function partOf(times: number[], positions: Position[], begin: number, end: number): Position[] {
  const part: Position[] = []
  positions.forEach((here, index) => {
    const [time, next, following] = [times[index] ?? 0, times[index + 1], positions[index + 1]]
    if (time >= begin && time <= end) part.push(here)
    if (!following || next === undefined) return
    if (time < begin && next > begin) part.push(between(here, following, (begin - time) / (next - time)))
    if (time < end && next > end) part.push(between(here, following, (end - time) / (next - time)))
  })
  return part
}

const between = (a: Position, b: Position, share: number): Position => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share
]
