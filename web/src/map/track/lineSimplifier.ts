// Simplifies a line: it may continue straight while all locations since its last corner lie close to it.
import { eastward } from './trackGeo'

/** Metres in a degree of latitude. */
const perDegree = 111_195
/** Metres after which there is a corner in any case: the earth is not flat. */
const longest = 50_000

export class LineSimplifier {
  #latitude = 0
  #longitude = 0
  #perDegreeEast = perDegree
  #farthest = 0
  /** The first direction, in radians, and how far to its right and left the others allow. */
  #ahead = 0
  #right = -Math.PI
  #left = Math.PI

  /** How far, in metres, a place may lie from the line. */
  constructor(private readonly tolerance: number) {}

  /** Begins at a corner. */
  begin(latitude: number, longitude: number): void {
    this.#latitude = latitude
    this.#longitude = longitude
    this.#perDegreeEast = perDegree * Math.cos((latitude * Math.PI) / 180)
    this.#farthest = 0
    this.#right = -Math.PI
    this.#left = Math.PI
  }

  /** Takes a place if the line from the corner to it passes all those taken before; false if there must be a corner. */
  takes(latitude: number, longitude: number): boolean {
    const north = (latitude - this.#latitude) * perDegree
    const east = eastward(this.#longitude, longitude) * this.#perDegreeEast
    const distance = Math.hypot(north, east)
    // A turn gives the line a corner.
    if (distance > longest || distance < this.#farthest - this.tolerance) return false
    if (distance > this.tolerance && !this.#narrow(Math.atan2(north, east), distance)) return false
    this.#farthest = Math.max(this.#farthest, distance)
    return true
  }

  #narrow(direction: number, distance: number): boolean {
    if (this.#farthest <= this.tolerance) this.#ahead = direction
    const turned = remainder(direction - this.#ahead)
    if (turned < this.#right || turned > this.#left) return false
    const aside = Math.asin(this.tolerance / distance)
    this.#right = Math.max(this.#right, turned - aside)
    this.#left = Math.min(this.#left, turned + aside)
    return true
  }
}

/** The same angle between -π and π. */
const remainder = (angle: number): number => angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI))
