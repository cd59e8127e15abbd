// Types of landGrid.mjs, for the test of the map.
export const gridSize: number
