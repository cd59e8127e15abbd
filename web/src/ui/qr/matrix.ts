// A QR code (ISO/IEC 18004, medium correction, bytes): the text as a square of dark and light modules.
import { codewords, versionFor } from './codewords'

export type Matrix = boolean[][]

const masks: ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0
]

/** A number with the remainder of its division by a polynomial behind it. */
function withRemainder(value: number, polynomial: number, bits: number): number {
  let rest = value << bits
  for (let bit = 31 - Math.clz32(rest); bit >= bits; bit = 31 - Math.clz32(rest)) rest ^= polynomial << (bit - bits)
  return (value << bits) | rest
}

/** The fifteen bits that tell the level (medium is 00) and the mask. */
export const formatBits = (mask: number): number => withRemainder(mask, 0x537, 10) ^ 0x5412
export const versionBits = (version: number): number => withRemainder(version, 0x1f25, 12)

class Drawing {
  readonly size: number
  readonly dark: Matrix
  /** Modules that are not for data. */
  readonly taken: Matrix

  constructor(readonly version: number) {
    this.size = 17 + 4 * version
    const empty = (): Matrix => Array.from({ length: this.size }, () => new Array<boolean>(this.size).fill(false))
    this.dark = empty()
    this.taken = empty()
    this.#patterns()
  }

  set(x: number, y: number, dark: boolean): void {
    const [row, taken] = [this.dark[y], this.taken[y]]
    if (!row || !taken || x < 0 || x >= this.size) return
    row[x] = dark
    taken[x] = true
  }

  #patterns(): void {
    const { size, version } = this
    for (let along = 0; along < size; along++) {
      this.set(6, along, along % 2 === 0)
      this.set(along, 6, along % 2 === 0)
    }
    for (const [x, y] of [
      [3, 3],
      [size - 4, 3],
      [3, size - 4]
    ] as const)
      this.#rings(x, y, 4, [2, 4])
    const places = alignments(version)
    for (const x of places) {
      for (const y of places) {
        const inCorner = (x === 6 && (y === 6 || y === size - 7)) || (x === size - 7 && y === 6)
        if (!inCorner) this.#rings(x, y, 2, [1])
      }
    }
    this.format(0)
    if (version >= 7) this.#version()
  }

  /** Squares around a point, dark but for the rings that are light. */
  #rings(x: number, y: number, radius: number, light: number[]): void {
    for (let dy = -radius; dy <= radius; dy++) {
      for (let dx = -radius; dx <= radius; dx++) {
        this.set(x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))))
      }
    }
  }

  format(mask: number): void {
    const bits = formatBits(mask)
    const bit = (index: number): boolean => ((bits >> index) & 1) === 1
    const { size } = this
    for (let index = 0; index < 15; index++) {
      // Around the first corner, past the timing patterns, and once more shared by the other two.
      if (index < 8) this.set(8, index < 6 ? index : index + 1, bit(index))
      else this.set(index === 8 ? 7 : 14 - index, 8, bit(index))
      if (index < 8) this.set(size - 1 - index, 8, bit(index))
      else this.set(8, size - 15 + index, bit(index))
    }
    this.set(8, size - 8, true)
  }

  #version(): void {
    const bits = versionBits(this.version)
    for (let index = 0; index < 18; index++) {
      const dark = ((bits >> index) & 1) === 1
      const [near, far] = [Math.floor(index / 3), this.size - 11 + (index % 3)]
      this.set(far, near, dark)
      this.set(near, far, dark)
    }
  }

  /** The places for data, in the order of the standard: pairs of columns from the right, up and down by turns. */
  *places(): Generator<[number, number]> {
    for (let right = this.size - 1, up = true; right >= 1; right -= 2, up = !up) {
      if (right === 6) right = 5
      for (let step = 0; step < this.size; step++) {
        const y = up ? this.size - 1 - step : step
        for (const x of [right, right - 1]) if (!this.taken[y]?.[x]) yield [x, y]
      }
    }
  }
}

/** Where the small marks are, along each side. */
export function alignments(version: number): number[] {
  if (version === 1) return []
  const count = Math.floor(version / 7) + 2
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2
  const last = 10 + 4 * version
  return [6, ...Array.from({ length: count - 1 }, (_, index) => last - step * (count - 2 - index))]
}

/** How hard it is to read: runs and blocks of one colour, and an uneven share of dark. */
function penalty(dark: Matrix): number {
  const size = dark.length
  const module = (x: number, y: number): boolean => dark[y]?.[x] ?? false
  let [points, count] = [0, 0]
  for (let a = 0; a < size; a++) {
    for (const turned of [false, true]) {
      for (let b = 0, run = 0; b < size; b++) {
        const same = b > 0 && (turned ? module(a, b) === module(a, b - 1) : module(b, a) === module(b - 1, a))
        run = same ? run + 1 : 1
        if (run === 5) points += 3
        else if (run > 5) points++
      }
    }
    for (let b = 0; b < size; b++) {
      if (module(a, b)) count++
      const corner = module(a, b)
      const isBlock =
        a > 0 && b > 0 && [module(a - 1, b), module(a, b - 1), module(a - 1, b - 1)].every((one) => one === corner)
      if (isBlock) points += 3
    }
  }
  return points + 10 * Math.floor((Math.abs(count * 20 - size * size * 10) + size * size - 1) / (size * size))
}

/** The code of a text; null when it is too long. */
export function qrCode(text: string): Matrix | null {
  const bytes = new TextEncoder().encode(text)
  const version = versionFor(bytes.length)
  if (version === null) return null
  const data = codewords(bytes, version)
  const drawings = masks.map((isMasked, mask) => {
    const drawing = new Drawing(version)
    let index = 0
    for (const [x, y] of drawing.places()) {
      const bit = ((data[index >> 3] ?? 0) >> (7 - (index & 7))) & 1
      const row = drawing.dark[y]
      if (row) row[x] = (bit === 1) !== isMasked(x, y)
      index++
    }
    drawing.format(mask)
    return drawing.dark
  })
  return drawings.reduce((best, one) => (penalty(one) < penalty(best) ? one : best))
}
