// Types of stack.mjs, for its test.
interface Land {
  type: 'Feature'
  properties: { ice?: 1; water?: 1 }
  geometry: { type: 'Polygon'; coordinates: [number, number][][] }
}
export function stacked(features: Land[]): Land[]
