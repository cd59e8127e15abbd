// Where a device was at any instant of its track, and which instant belongs to a position.
import { isGap, measures, type Measure, type Track } from './track'
import { bearing, eastward, metres, wrap } from './trackGeo'

export interface Moment extends Record<Measure, number | null> {
  time: number
  latitude: number
  longitude: number
  /** The index of the location before this instant. */
  index: number
  /** Whether there is no data for this time: the position is interpolated across a gap. */
  inGap: boolean
}

/** The last location at or before an instant; the first if there is none. */
export function indexAt(track: Track, time: number): number {
  let [low, high] = [0, track.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (track.time[middle]! <= time) low = middle
    else high = middle - 1
  }
  return low
}

/** The locations of a track within a period, in the same memory. */
export function partOf(track: Track, from: number, to: number): Track {
  const last = indexAt(track, to)
  const begin = indexAt(track, from)
  const first = track.length > 0 && track.time[begin]! < from ? begin + 1 : begin
  const length = track.length > 0 && track.time[last]! <= to ? Math.max(0, last + 1 - first) : 0
  const cut = <T extends Float64Array | Float32Array>(column: T): T => column.subarray(first, first + length) as T
  const part = {
    ...track,
    length,
    time: cut(track.time),
    latitude: cut(track.latitude),
    longitude: cut(track.longitude)
  }
  for (const measure of measures) part[measure] = cut(track[measure])
  return part
}

/** Below this speed a device keeps its previous direction. */
const crawlingKmh = 2

/** The position of the device, interpolated between the locations around an instant. */
export function momentAt(track: Track, time: number): Moment | null {
  if (track.length === 0) return null
  const index = indexAt(track, time)
  const after = Math.min(index + 1, track.length - 1)
  const span = track.time[after]! - track.time[index]!
  const part = span > 0 ? Math.min(1, Math.max(0, (time - track.time[index]!) / span)) : 0
  const { latitude, longitude } = track
  const inGap = after > index && part > 0 && part < 1 && isGap(track, after)
  const moment: Moment = {
    time,
    index,
    inGap,
    latitude: latitude[index]! + (latitude[after]! - latitude[index]!) * part,
    longitude: wrap(longitude[index]! + eastward(longitude[index]!, longitude[after]!) * part),
    course: courseAt(track, index),
    speed: null,
    altitude: null,
    battery: null,
    temperature: null
  }
  if (inGap) return moment
  for (const measure of measures) {
    if (measure === 'course') continue
    const [value, next] = [track[measure][index]!, track[measure][after]!]
    if (!Number.isNaN(value)) moment[measure] = Number.isNaN(next) ? value : value + (next - value) * part
  }
  return moment
}

/** The heading: as reported, else the direction of travel, else the previous one. */
function courseAt(track: Track, index: number): number | null {
  for (let at = index; at >= 0 && at > index - 100; at--) {
    if (!(track.speed[at]! > crawlingKmh)) continue
    if (!Number.isNaN(track.course[at])) return track.course[at]!
    if (at > 0 && !isGap(track, at)) return between(track, at - 1, at)
  }
  return index + 1 < track.length ? between(track, index, index + 1) : null
}

const between = ({ latitude, longitude }: Track, a: number, b: number): number =>
  bearing(latitude[a]!, longitude[a]!, latitude[b]!, longitude[b]!)

/** The location nearest to a position, if one is within `within` metres. */
export function nearestTo(track: Track, latitude: number, longitude: number, within: number): number | null {
  const shrink = Math.cos((latitude * Math.PI) / 180)
  let [best, least] = [-1, Number.POSITIVE_INFINITY]
  for (let at = 0; at < track.length; at++) {
    const north = track.latitude[at]! - latitude
    const east = eastward(longitude, track.longitude[at]!) * shrink
    const square = north * north + east * east
    if (square < least) [best, least] = [at, square]
  }
  if (best < 0 || metres(latitude, wrap(longitude), track.latitude[best]!, track.longitude[best]!) > within) return null
  return best
}
