// Moves devices smoothly from where they are drawn to where they were reported.

interface Move {
  fromX: number
  fromY: number
  toX: number
  toY: number
  begin: number
}

/** Duration of a move, in milliseconds. */
const durationMs = 900

export class Movement {
  readonly #moves = new Map<number, Move>()

  /**
   * Begins a move in the unit square at an instant in milliseconds. If the device is moving, the new move begins at its
   * current position.
   */
  begin(key: number, from: { x: number; y: number }, to: { x: number; y: number }, now: number): void {
    const here = this.at(key, now) ?? from
    // Across the antimeridian the shorter way is taken.
    const step = to.x - here.x
    const fromX = step > 0.5 ? here.x + 1 : step < -0.5 ? here.x - 1 : here.x
    this.#moves.set(key, { fromX, fromY: here.y, toX: to.x, toY: to.y, begin: now })
  }

  /** Where a device is drawn now; undefined when it does not move. */
  at(key: number, now: number): { x: number; y: number } | undefined {
    const move = this.#moves.get(key)
    if (!move) return undefined
    const share = (now - move.begin) / durationMs
    if (share >= 1) {
      this.#moves.delete(key)
      return undefined
    }
    // Slow at both ends.
    const eased = share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) ** 2
    return {
      x: (move.fromX + (move.toX - move.fromX) * eased + 1) % 1,
      y: move.fromY + (move.toY - move.fromY) * eased
    }
  }

  /** Whether anything moves; moves that have ended are removed. */
  isMoving(now: number): boolean {
    for (const [key, { begin }] of this.#moves) if (now - begin >= durationMs) this.#moves.delete(key)
    return this.#moves.size > 0
  }

  clear(): void {
    this.#moves.clear()
  }
}
