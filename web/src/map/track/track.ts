// The locations of one device over a span of time, in columns: a day has 86,400 of them, a month may have millions.
import { metres } from './trackGeo'

/** The optional measurements of a location. */
export const measures = ['speed', 'course', 'altitude', 'battery', 'temperature'] as const
export type Measure = (typeof measures)[number]

export interface Track extends Record<Measure, Float32Array> {
  readonly length: number
  /** Milliseconds, ascending. */
  readonly time: Float64Array
  readonly latitude: Float64Array
  readonly longitude: Float64Array
  /** The number of locations before thinning; one of every `stride` is kept. */
  readonly total: number
  readonly stride: number
  /** The number of implausible locations that were left out. */
  readonly doubtful: number
  /** The highest reported speed in km/h; NaN without one. */
  readonly fastest: number
  /** If the time between two locations is longer than this, in milliseconds, the route in between is unknown: a gap. */
  readonly gapAfter: number
}

export interface Fix extends Partial<Record<Measure, number | null>> {
  dateTime?: string
  latitude?: number
  longitude?: number
  suspect?: boolean | null
}

/** Above this number, locations are thinned out while loading, to limit memory and time. */
const mostLocations = 300_000
const shortestGapMs = 15 * 60_000
const gapFactor = 6

/** Builds a track from locations, oldest first. */
export class TrackBuilder {
  #capacity = 4096
  #length = 0
  #stride = 1
  #total = 0
  #doubtful = 0
  #fastest = Number.NaN
  #columns = {
    time: new Float64Array(this.#capacity),
    latitude: new Float64Array(this.#capacity),
    longitude: new Float64Array(this.#capacity),
    ...emptyMeasures(this.#capacity)
  }

  constructor(private readonly most = mostLocations) {}

  /** The number of locations that were added. */
  get total(): number {
    return this.#total
  }

  add(fix: Fix): void {
    if (fix.dateTime === undefined || fix.latitude === undefined || fix.longitude === undefined) return
    this.#total++
    if (fix.suspect) {
      this.#doubtful++
      return
    }
    if (fix.speed != null && !(this.#fastest >= fix.speed)) this.#fastest = fix.speed
    if ((this.#total - 1) % this.#stride !== 0) return
    const time = Date.parse(fix.dateTime)
    // Of two locations with the same time the first is kept.
    if (this.#length > 0 && time <= (this.#columns.time[this.#length - 1] ?? 0)) return
    if (this.#length === this.most) this.#halve()
    if (this.#length === this.#capacity) this.#grow()
    const at = this.#length++
    this.#columns.time[at] = time
    this.#columns.latitude[at] = fix.latitude
    this.#columns.longitude[at] = fix.longitude
    for (const measure of measures) this.#columns[measure][at] = fix[measure] ?? Number.NaN
  }

  finish(): Track {
    const length = this.#length
    const { time, latitude, longitude } = this.#columns
    const track: Track = {
      length,
      time: time.slice(0, length),
      latitude: latitude.slice(0, length),
      longitude: longitude.slice(0, length),
      ...emptyMeasures(0),
      total: this.#total,
      stride: this.#stride,
      doubtful: this.#doubtful,
      fastest: this.#fastest,
      gapAfter: Math.max(shortestGapMs, gapFactor * medianInterval(time, length))
    }
    for (const measure of measures) track[measure] = this.#columns[measure].slice(0, length)
    estimateSpeed(track)
    return track
  }

  /** Drops every second location, and keeps half as many from now on. */
  #halve(): void {
    for (const column of Object.values(this.#columns)) {
      for (let at = 0; at * 2 < this.#length; at++) column[at] = column[at * 2] ?? Number.NaN
    }
    this.#length = Math.ceil(this.#length / 2)
    this.#stride *= 2
  }

  #grow(): void {
    this.#capacity *= 2
    const larger = <T extends Float64Array | Float32Array>(column: T, room: T): T => {
      room.set(column)
      return room
    }
    const { time, latitude, longitude } = this.#columns
    const grown = {
      time: larger(time, new Float64Array(this.#capacity)),
      latitude: larger(latitude, new Float64Array(this.#capacity)),
      longitude: larger(longitude, new Float64Array(this.#capacity)),
      ...emptyMeasures(this.#capacity)
    }
    for (const measure of measures) grown[measure].set(this.#columns[measure])
    this.#columns = grown
  }
}

const emptyMeasures = (length: number): Record<Measure, Float32Array<ArrayBuffer>> => ({
  speed: new Float32Array(length),
  course: new Float32Array(length),
  altitude: new Float32Array(length),
  battery: new Float32Array(length),
  temperature: new Float32Array(length)
})

/** The usual reporting interval of the device, from a sample. */
function medianInterval(time: Float64Array, length: number): number {
  const step = Math.max(1, Math.floor(length / 5000))
  const intervals: number[] = []
  for (let at = 1; at < length; at += step) intervals.push((time[at] ?? 0) - (time[at - 1] ?? 0))
  intervals.sort((a, b) => a - b)
  return intervals[Math.floor(intervals.length / 2)] ?? 0
}

/** A location without a speed gets the speed from the previous location to it. */
function estimateSpeed(track: Track): void {
  const { time, latitude, longitude, speed } = track
  for (let at = 1; at < track.length; at++) {
    if (!Number.isNaN(speed[at])) continue
    const [lat, lon, lat2, lon2] = [latitude[at - 1]!, longitude[at - 1]!, latitude[at]!, longitude[at]!]
    const hours = (time[at]! - time[at - 1]!) / 3_600_000
    if (hours * 3_600_000 <= track.gapAfter) speed[at] = metres(lat, lon, lat2, lon2) / 1000 / hours
  }
}

/** Whether there is a gap between a location and the previous one. */
export const isGap = (track: Track, at: number): boolean => track.time[at]! - track.time[at - 1]! > track.gapAfter
