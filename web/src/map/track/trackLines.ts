// Converts a track to the lines that the map draws: the route, its pieces by classes of a reading, and its gaps. Lines
// that cross the antimeridian are cut there.
import { isBeyondTiles } from '$lib/map/geometry/geodesy'
import { isGap, type Measure, type Track } from './track'
import { eastward, metres, wrap } from './trackGeo'
import { LineSimplifier } from './lineSimplifier'

type Line = [number, number][]

export interface TrackLines {
  /** The route, in pieces between gaps. */
  path: Line[]
  /** The same route, one list for each class of the reading. */
  classes: Line[][]
  /** Straight lines across gaps; not the real route. */
  gaps: Line[]
}

/** About this many locations are drawn; more would be closer together than a pixel. */
const mostPositions = 50_000
const finestMetres = 2
/** Maximum distance of a position from the line, as a fraction of the distance between positions. */
const besideFraction = 0.4
/** A gap whose ends are within this many metres is not drawn. */
const smallGapMetres = 50

/** Builds lines that take the shorter way, cut where they cross 180 degrees and where the map's tiles end. */
class Pen {
  readonly lines: Line[] = []
  #line: Line = []
  #at: [number, number] = [0, 0]

  moveTo(longitude: number, latitude: number): void {
    this.#at = [longitude, latitude]
    this.#line = []
  }

  lineTo(longitude: number, latitude: number): void {
    const [from, fromLatitude] = this.#at
    if (isBeyondTiles(latitude) || isBeyondTiles(fromLatitude)) {
      this.moveTo(longitude, latitude)
      return
    }
    if (Math.abs(longitude - from) > 180) {
      const edge = from > 0 ? 180 : -180
      const part = Math.abs(edge - from) / Math.abs(eastward(from, longitude))
      const crossing = fromLatitude + (latitude - fromLatitude) * part
      this.#draw(edge, crossing)
      this.moveTo(-edge, crossing)
    }
    this.#draw(longitude, latitude)
  }

  #draw(longitude: number, latitude: number): void {
    if (this.#line.length === 0) {
      this.#line = [this.#at]
      this.lines.push(this.#line)
    }
    this.#at = [longitude, latitude]
    this.#line.push(this.#at)
  }
}

/** The lines of a track. `classOf` maps a reading, such as a speed in km/h, to one of the `classes`. */
export function linesOf(
  track: Track,
  classes: number,
  classOf: (value: number) => number,
  measure: Measure = 'speed'
): TrackLines {
  const { latitude, longitude, [measure]: values } = track
  const path = new Pen()
  const gaps = new Pen()
  const coloured = Array.from({ length: classes }, () => new Pen())
  const spacing = Math.max(finestMetres, lengthOf(track) / mostPositions)
  const sleeve = new LineSimplifier(spacing * besideFraction)
  /** The last position that was examined; it becomes a corner if the line cannot continue straight. */
  let last = 0
  let corner = 0
  let colour = -1
  const drawTo = (at: number): void => {
    if (at === corner) return
    coloured[colour]?.lineTo(longitude[at]!, latitude[at]!)
    path.lineTo(longitude[at]!, latitude[at]!)
    corner = at
  }
  const turnTo = (at: number): void => {
    const wanted = classOf(values[at]!)
    if (wanted !== colour || !sleeve.takes(latitude[at]!, longitude[at]!)) {
      drawTo(last)
      if (wanted !== colour) coloured[wanted]?.moveTo(longitude[last]!, latitude[last]!)
      colour = wanted
      sleeve.begin(latitude[last]!, longitude[last]!)
      sleeve.takes(latitude[at]!, longitude[at]!)
    }
    last = at
  }
  const begin = (at: number): void => {
    path.moveTo(longitude[at]!, latitude[at]!)
    last = corner = at
    colour = -1
  }
  if (track.length > 0) begin(0)
  for (let at = 1; at < track.length; at++) {
    if (isGap(track, at)) {
      if (last !== at - 1) turnTo(at - 1)
      drawTo(at - 1)
      if (apart(track, at - 1, at) > smallGapMetres) {
        gaps.moveTo(longitude[at - 1]!, latitude[at - 1]!)
        gaps.lineTo(longitude[at]!, latitude[at]!)
      }
      begin(at)
    } else if (at === track.length - 1 || apart(track, last, at) >= spacing) turnTo(at)
  }
  drawTo(last)
  return { path: path.lines, gaps: gaps.lines, classes: coloured.map(({ lines }) => lines) }
}

const apart = ({ latitude, longitude }: Track, a: number, b: number): number =>
  metres(latitude[a]!, longitude[a]!, latitude[b]!, longitude[b]!)

function lengthOf(track: Track): number {
  let length = 0
  for (let at = 1; at < track.length; at++) length += apart(track, at - 1, at)
  return length
}

/** West, south, east, north; east may be beyond 180 when the track crosses the antimeridian. */
export function boundsOf(track: Track): Bounds | null {
  if (track.length === 0) return null
  let east = track.longitude[0]!
  const bounds: Bounds = [east, track.latitude[0]!, east, track.latitude[0]!]
  for (let at = 1; at < track.length; at++) {
    east += eastward(wrap(east), track.longitude[at]!)
    bounds[0] = Math.min(bounds[0], east)
    bounds[1] = Math.min(bounds[1], track.latitude[at]!)
    bounds[2] = Math.max(bounds[2], east)
    bounds[3] = Math.max(bounds[3], track.latitude[at]!)
  }
  if (bounds[2] - bounds[0] >= 360) return [-180, bounds[1], 180, bounds[3]]
  return bounds
}

type Bounds = [number, number, number, number]

/** Bounds around several bounds, each shifted by whole turns to lie near the first. */
export function joinBounds(all: Bounds[]): Bounds | null {
  const [first, ...rest] = all
  if (!first) return null
  const joined: Bounds = [...first]
  for (const [west, south, east, north] of rest) {
    const middle = (first[0] + first[2]) / 2
    const turn = Math.round((middle - (west + east) / 2) / 360) * 360
    joined[0] = Math.min(joined[0], west + turn)
    joined[1] = Math.min(joined[1], south)
    joined[2] = Math.max(joined[2], east + turn)
    joined[3] = Math.max(joined[3], north)
  }
  return joined[2] - joined[0] >= 360 ? [-180, joined[1], 180, joined[3]] : joined
}

/** The line through some positions, cut where it crosses the antimeridian. */
export function cutLine(positions: { latitude: number; longitude: number }[]): Line[] {
  const pen = new Pen()
  for (const [index, { latitude, longitude }] of positions.entries()) {
    if (index === 0) pen.moveTo(longitude, latitude)
    else pen.lineTo(longitude, latitude)
  }
  return pen.lines
}
