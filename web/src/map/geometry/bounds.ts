// The smallest bounds around some positions, also across the antimeridian.

export interface Position {
  latitude: number
  longitude: number
}

/** West, south, east, north; east is beyond 180 if positions lie around the antimeridian. Null without positions. */
export function boundsOfPositions(positions: Position[]): [number, number, number, number] | null {
  if (positions.length === 0) return null
  const longitudes = positions.map(({ longitude }) => longitude).sort((a, b) => a - b)
  const whole: [number, number] = [longitudes[0]!, longitudes.at(-1)!]
  // The bounds leave out the widest empty arc of longitudes.
  let [west, east] = whole
  let widest = west + 360 - east
  for (let at = 1; at < longitudes.length; at++) {
    const empty = longitudes[at]! - longitudes[at - 1]!
    if (empty <= widest) continue
    west = longitudes[at]!
    east = longitudes[at - 1]! + 360
    widest = empty
  }
  // Positions all over the world are shown on the whole world map.
  if (east - west > 180) [west, east] = whole
  let [south, north] = [90, -90]
  for (const { latitude } of positions) {
    south = Math.min(south, latitude)
    north = Math.max(north, latitude)
  }
  return [west, south, east, north]
}
