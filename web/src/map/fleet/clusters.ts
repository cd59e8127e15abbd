// Groups devices that would overlap on the map. It runs on the main thread on purpose: the members are needed there for
// the ring of states and for separating a cluster, and 10,000 devices take a few milliseconds.

/** A device in the unit square of the Mercator projection, x growing east and y south. */
export interface Spot {
  key: number
  x: number
  y: number
}

export interface Cluster<S extends Spot> {
  /** Stays the same while the devices move little. */
  id: string
  members: S[]
  x: number
  y: number
}

interface Cell<S extends Spot> {
  column: number
  row: number
  members: S[]
  x: number
  y: number
  isTaken: boolean
}

/** The size of a tile of the map in pixels: the world is this wide at zoom 0. */
export const worldSize = 512

/** The way east from one longitude of the unit square to another, the shorter way round: from -0.5 to 0.5. */
const eastward = (from: number, to: number): number => {
  const step = to - from
  return step > 0.5 ? step - 1 : step < -0.5 ? step + 1 : step
}

/** Puts spots closer than `radius` pixels at this zoom into clusters; a spot without neighbours is its own cluster. */
export function cluster<S extends Spot>(spots: Iterable<S>, zoom: number, radius: number): Cluster<S>[] {
  // A whole number of columns, so that the grid closes at the antimeridian.
  const columns = Math.max(1, Math.floor((worldSize * 2 ** zoom) / radius))
  const cells = gridOf(spots, columns)
  const order = [...cells.values()].sort(
    (a, b) => b.members.length - a.members.length || a.row - b.row || a.column - b.column
  )
  const reach = 1 / columns
  return order.flatMap((seed) => {
    if (seed.isTaken) return []
    seed.isTaken = true
    const joined = [...neighbours(cells, seed, columns)].filter(
      (other) => !other.isTaken && Math.hypot(eastward(seed.x, other.x), other.y - seed.y) < reach
    )
    for (const other of joined) other.isTaken = true
    return [merge(seed, joined, columns)]
  })
}

const nameOf = (column: number, row: number, columns: number): number => row * columns + column

function gridOf<S extends Spot>(spots: Iterable<S>, columns: number): Map<number, Cell<S>> {
  const cells = new Map<number, Cell<S>>()
  for (const spot of spots) {
    const column = Math.min(columns - 1, Math.floor(spot.x * columns))
    const row = Math.floor(spot.y * columns)
    const name = nameOf(column, row, columns)
    const cell = cells.get(name)
    if (cell) cell.members.push(spot)
    else cells.set(name, { column, row, members: [spot], x: 0, y: 0, isTaken: false })
  }
  for (const cell of cells.values()) Object.assign(cell, middle(cell.members))
  return cells
}

function* neighbours<S extends Spot>(
  cells: Map<number, Cell<S>>,
  { column, row }: Cell<S>,
  columns: number
): Generator<Cell<S>> {
  for (let dy = -1; dy <= 1; dy++) {
    for (let dx = -1; dx <= 1; dx++) {
      if (dx === 0 && dy === 0) continue
      const cell = cells.get(nameOf((column + dx + columns) % columns, row + dy, columns))
      if (cell) yield cell
    }
  }
}

function merge<S extends Spot>(seed: Cell<S>, others: Cell<S>[], columns: number): Cluster<S> {
  const members = others.length > 0 ? [seed, ...others].flatMap((cell) => cell.members) : seed.members
  return { id: `${columns} ${nameOf(seed.column, seed.row, columns)}`, members, ...middle(members) }
}

/** The mean of some spots, across the antimeridian too. */
function middle(spots: Spot[]): { x: number; y: number } {
  const first = spots[0]
  if (!first) return { x: 0, y: 0 }
  let [east, south] = [0, 0]
  for (const { x, y } of spots) {
    east += eastward(first.x, x)
    south += y
  }
  return { x: (((first.x + east / spots.length) % 1) + 1) % 1, y: south / spots.length }
}

/** The width or height of the area that spots cover at a zoom, whichever is larger, in pixels. */
export function spreadOf(spots: Spot[], zoom: number): number {
  const first = spots[0]
  if (!first) return 0
  let [west, east, top, bottom] = [0, 0, first.y, first.y]
  for (const { x, y } of spots) {
    const step = eastward(first.x, x)
    west = Math.min(west, step)
    east = Math.max(east, step)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y)
  }
  return Math.max(east - west, bottom - top) * worldSize * 2 ** zoom
}
