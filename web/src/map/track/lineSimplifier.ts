// Simplifies a line: a straight piece continues while all locations since the last corner lie close to it.
import { eastward } from './trackGeo'

/** Metres in a degree of latitude. */
const metresPerDegree = 111_195
/** Metres after which there is a corner in any case: the earth is not flat. */
const longestMetres = 50_000

export class LineSimplifier {
  #latitude = 0
  #longitude = 0
  #perDegreeEast = metresPerDegree
  #farthest = 0
  /** The first direction, in radians, and the allowed deviation to its right and left. */
  #ahead = 0
  #right = -Math.PI
  #left = Math.PI

  /** Maximum distance of a position from the line, in metres. */
  constructor(private readonly tolerance: number) {}

  /** Begins at a corner. */
  begin(latitude: number, longitude: number): void {
    this.#latitude = latitude
    this.#longitude = longitude
    this.#perDegreeEast = metresPerDegree * Math.cos((latitude * Math.PI) / 180)
    this.#farthest = 0
    this.#right = -Math.PI
    this.#left = Math.PI
  }

  /**
   * Adds a position if the line from the corner to it passes near all positions added before. Returns false if the line
   * needs a corner.
   */
  takes(latitude: number, longitude: number): boolean {
    const north = (latitude - this.#latitude) * metresPerDegree
    const east = eastward(this.#longitude, longitude) * this.#perDegreeEast
    const distance = Math.hypot(north, east)
    // Turning back needs a corner.
    if (distance > longestMetres || distance < this.#farthest - this.tolerance) return false
    if (distance > this.tolerance && !this.#narrowDirections(Math.atan2(north, east), distance)) return false
    this.#farthest = Math.max(this.#farthest, distance)
    return true
  }

  #narrowDirections(direction: number, distance: number): boolean {
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
