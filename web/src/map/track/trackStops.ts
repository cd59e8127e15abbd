// The stops of a track, where a device stayed within a small circle for some minutes, and its totals.
import { isGap, type Track } from './track'
import { eastward, metres, wrap } from './trackGeo'

export interface Stop {
  /** The first and the last location of it, by index. */
  first: number
  last: number
  /** Milliseconds. */
  from: number
  to: number
  latitude: number
  longitude: number
}

/** Metres around the middle of a stop; wide enough for an anchored boat and for poor reception. */
const radius = 120
const shortest = 5 * 60_000
/** Metres in a degree of latitude. */
const perDegree = 111_195
/** Stops at the same position with less time than this between them are merged: an outlier does not split a stop. */
const mergeWithin = 3 * 60_000

export function stopsOf(track: Track): Stop[] {
  const stops: Stop[] = []
  let first = 0
  while (first < track.length - 1) {
    const stop = dwellFrom(track, first)
    if (stop.to - stop.from >= shortest) {
      append(stops, stop)
      first = stop.last + 1
    } else first++
  }
  return stops
}

/** The stay that begins with a location, however short. */
function dwellFrom(track: Track, first: number): Stop {
  const { latitude, longitude, time } = track
  const startLatitude = latitude[first]!
  const startLongitude = longitude[first]!
  // In metres from the start, on a plane: exact enough for the size of a stop, quick enough for every location, and
  // the antimeridian is nothing special.
  const perDegreeEast = perDegree * Math.cos((startLatitude * Math.PI) / 180)
  let [north, east, count, last] = [0, 0, 1, first]
  for (let at = first + 1; at < track.length; at++) {
    const y = (latitude[at]! - startLatitude) * perDegree
    const x = eastward(startLongitude, longitude[at]!) * perDegreeEast
    // The middle moves with what is added.
    const [offY, offX] = [y - north / count, x - east / count]
    if (offY * offY + offX * offX > radius * radius) break
    north += y
    east += x
    count++
    last = at
  }
  return {
    first,
    last,
    from: time[first]!,
    to: time[last]!,
    latitude: startLatitude + north / count / perDegree,
    longitude: wrap(startLongitude + (perDegreeEast > 1 ? east / count / perDegreeEast : 0))
  }
}

function append(stops: Stop[], stop: Stop): void {
  const before = stops.at(-1)
  const isSamePlace = before && metres(before.latitude, before.longitude, stop.latitude, stop.longitude) <= radius
  if (before && isSamePlace && stop.from - before.to <= mergeWithin) {
    before.last = stop.last
    before.to = stop.to
  } else stops.push(stop)
}

export interface Totals {
  /** Metres. */
  distance: number
  /** Milliseconds of each. */
  moving: number
  stopped: number
  /** A gap, after which the device was somewhere else. */
  silent: number
  /** In km/h; null without data. */
  fastest: number | null
  average: number | null
}

/** Distance and times; drift while standing does not count as distance. */
export function totalsOf(track: Track, stops: Stop[]): Totals {
  const totals: Totals = { distance: 0, moving: 0, stopped: 0, silent: 0, fastest: null, average: null }
  let next = 0
  let reckoned = Number.NaN
  for (let at = 1; at < track.length; at++) {
    while (next < stops.length && stops[next]!.last < at) next++
    const stop = stops[next]
    const time = track.time[at]! - track.time[at - 1]!
    if (stop && stop.first < at) totals.stopped += time
    else if (isGap(track, at)) totals.silent += time
    else {
      totals.moving += time
      totals.distance += metres(
        track.latitude[at - 1]!,
        track.longitude[at - 1]!,
        track.latitude[at]!,
        track.longitude[at]!
      )
      if (!(reckoned >= track.speed[at]!)) reckoned = track.speed[at]!
    }
  }
  const fastest = Number.isNaN(track.fastest) ? reckoned : track.fastest
  if (!Number.isNaN(fastest)) totals.fastest = fastest
  if (totals.moving > 0) totals.average = totals.distance / 1000 / (totals.moving / 3_600_000)
  return totals
}
