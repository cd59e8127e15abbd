// The finite field of 256 elements in which QR codes correct their errors, and the Reed-Solomon remainder.

const size = 255
const powers = new Uint8Array(2 * size)
const logarithms = new Uint8Array(size + 1)

for (let power = 0, value = 1; power < size; power++) {
  powers[power] = powers[power + size] = value
  logarithms[value] = power
  // Times x, by the polynomial the standard names.
  value = (value << 1) ^ (value & 0x80 ? 0x11d : 0)
}

export const times = (a: number, b: number): number =>
  a === 0 || b === 0 ? 0 : at(powers, at(logarithms, a) + at(logarithms, b))

export const at = (table: ArrayLike<number>, index: number): number => table[index] ?? 0

/** The coefficients, but the first, of the product of (x - 2^i) for i below a degree. */
function generator(degree: number): number[] {
  let product = [1]
  for (let root = 0; root < degree; root++) {
    const next = new Array<number>(product.length + 1).fill(0)
    product.forEach((coefficient, index) => {
      next[index] = at(next, index) ^ coefficient
      next[index + 1] = at(next, index + 1) ^ times(coefficient, at(powers, root))
    })
    product = next
  }
  return product.slice(1)
}

/** What must stand after the data so that errors can be found and mended. */
export function correction(data: number[], count: number): number[] {
  const divisor = generator(count)
  let rest = new Array<number>(count).fill(0)
  for (const byte of data) {
    const factor = byte ^ at(rest, 0)
    rest = divisor.map((coefficient, index) => at(rest, index + 1) ^ times(coefficient, factor))
  }
  return rest
}
