// The tiles of the bundled map: one PMTiles file of the server's, read by ranges when the map first shows a tile of it.
import { addProtocol } from 'maplibre-gl'
import { address } from '$lib/api/client'

export type Level = 'region' | 'local'
/** The zoom of the tiles of each level; the map enlarges them for the zooms above. */
export const levels: Record<Level, number> = { region: 5, local: 7 }

let reading: Promise<void> | undefined

/** Lets the map read parts of PMTiles files. One instance for all maps, because it caches what it has read. */
export function addPmtiles(): Promise<void> {
  reading ??= import('pmtiles').then(({ Protocol }) => addProtocol('pmtiles', new Protocol().tile))
  return reading
}

/** Where the map finds the tiles; `addPmtiles` must have been called. */
export const bundledTiles = (): string => `pmtiles://${address('api/map/bundled/world.pmtiles')}/{z}/{x}/{y}`
