// Sizes of shapes on the sphere.
import type { Position, Shape } from './drawShape'
import { earthRadius, lengthOf, unwrap } from '$lib/map/geometry/geodesy'

const radians = Math.PI / 180

/** The area inside a ring, in square metres. A ring that goes round the earth encloses the part around its pole. */
export function areaOf(ring: Position[]): number {
  const whole = unwrap([...ring, ...ring.slice(0, 1)])
  let [sum, turn] = [0, 0]
  whole.forEach((here, index) => {
    const next = whole[index + 1]
    if (!next) return
    turn += next[0] - here[0]
    sum += ((next[0] - here[0]) * radians * (Math.sin(here[1] * radians) + Math.sin(next[1] * radians))) / 2
  })
  const flat = Math.abs(sum)
  return earthRadius ** 2 * (Math.abs(turn) > 180 ? 2 * Math.PI - flat : flat)
}

/** The area of a shape in square metres, or the length of a corridor in metres. */
export function sizeOf(shape: Shape): { area: number } | { length: number } {
  switch (shape.kind) {
    case 'polygon':
      return { area: areaOf(shape.positions) }
    case 'circle':
      return { area: 2 * Math.PI * earthRadius ** 2 * (1 - Math.cos(shape.radius / earthRadius)) }
    case 'corridor':
      return { length: lengthOf(shape.positions) }
    case 'area': {
      const of = (rings: Position[][]): number =>
        rings.reduce((sum, ring, index) => sum + (index === 0 ? areaOf(ring) : -areaOf(ring)), 0)
      return { area: shape.polygons.reduce((sum, rings) => sum + of(rings), 0) }
    }
  }
}
