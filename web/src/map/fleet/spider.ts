// Devices of one spot drawn apart around it: on a circle while they are few, on a spiral when they are many.

/** Maximum number of devices that are drawn apart around one spot. */
export const mostLegs = 60
/** Maximum number of devices that are drawn on a circle; more are drawn on a spiral. */
const fewest = 9
/** Pixels between neighbours. */
const spacingPx = 38

/** The offset of each of `count` devices, in pixels to the right of and below the spot. */
export function spiderOffsets(count: number): [x: number, y: number][] {
  return count <= fewest ? circle(count) : spiral(count)
}

function circle(count: number): [number, number][] {
  const radius = Math.max(44, (count * spacingPx) / (2 * Math.PI))
  return Array.from({ length: count }, (_, index) => at((2 * Math.PI * index) / count - Math.PI / 2, radius))
}

function spiral(count: number): [number, number][] {
  const result: [number, number][] = []
  let angle = 0
  // One turn moves outwards by the spacing, so that neighbours on two turns are as far apart as those on one.
  for (let index = 0; index < count; index++) {
    const radius = 40 + (spacingPx * angle) / (2 * Math.PI)
    result.push(at(angle - Math.PI / 2, radius))
    angle += spacingPx / radius
  }
  return result
}

const at = (angle: number, radius: number): [number, number] => [radius * Math.cos(angle), radius * Math.sin(angle)]
