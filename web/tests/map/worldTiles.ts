// The bundled map as the console draws it: which tiles a tile of some zoom is drawn from, and in which order.
import { VectorTile } from '@mapbox/vector-tile'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { PbfReader } from 'pbf'
import { PMTiles, type Source } from 'pmtiles'
import { Cuttable, Points } from './fill'
import { CanonicalTileID, type Shapes } from './renderer.mjs'

export const [nothing, sea, land] = [0, 1, 2]

/** Zooms of the tiles in the file. */
export const levels = { region: 5, local: 7 }
interface Layer {
  level: keyof typeof levels
  name: string
  shows: number
}
const layer = (level: Layer['level'], name: string, shows: number): Layer => ({ level, name, shows })
const regionSea = layer('region', 'sea', sea)
const depths = layer('region', 'depth', sea)
const regionLand = ['land', 'ice', 'urban'].map((name) => layer('region', name, land))
const local = [layer('local', 'sea', sea), depths, layer('local', 'land', land), layer('local', 'ice', land)]
/** The layers from below to above, as in src/map/basemap/detail.ts, below and from the zoom of the finer tiles. */
const coarser = [regionSea, depths, ...regionLand]
const finer = [regionSea, ...regionLand, ...local]

type Layers = Record<string, Cuttable>

export class WorldTiles {
  readonly #file: PMTiles
  readonly #known = new Map<string, Promise<Layers | undefined>>()

  constructor(path: string) {
    const bytes = readFileSync(path)
    const source: Source = {
      getKey: () => path,
      getBytes: (offset, length) =>
        Promise.resolve({ data: new Uint8Array(bytes.subarray(offset, offset + length)).buffer })
    }
    const unpack = (packed: ArrayBuffer): Promise<ArrayBuffer> =>
      Promise.resolve(new Uint8Array(gunzipSync(new Uint8Array(packed))).buffer)
    this.#file = new PMTiles(source, undefined, unpack)
  }

  /** What is drawn at the points of a tile of any zoom from 5. */
  async drawn(target: CanonicalTileID, points: number): Promise<Points> {
    const result = new Points(points)
    const level = {
      region: await this.#over(target, levels.region),
      local: target.z < levels.local ? undefined : await this.#over(target, levels.local)
    }
    // The sea of a finer tile covers it whole: what lies below need not be drawn.
    const order = target.z < levels.local ? coarser : level.local?.sea ? local : finer
    for (const { level: from, name, shows } of order) {
      const shapes = level[from]?.[name]?.cut(target)
      if (shapes) result.draw(shapes, ({ properties }) => (properties.water ? sea : shows))
    }
    return result
  }

  /** The tile of another zoom that a tile lies in. */
  #over(target: CanonicalTileID, zoom: number): Promise<Layers | undefined> {
    const scale = 2 ** (target.z - zoom)
    return this.layers(new CanonicalTileID(zoom, Math.floor(target.x / scale), Math.floor(target.y / scale)))
  }

  layers(base: CanonicalTileID): Promise<Layers | undefined> {
    const key = `${base.z}/${base.x}/${base.y}`
    let layers = this.#known.get(key)
    if (!layers) {
      // Tiles are asked for one after another, so that few need to be kept.
      if (this.#known.size > 40) this.#known.clear()
      layers = this.#read(base)
      this.#known.set(key, layers)
    }
    return layers
  }

  async #read(base: CanonicalTileID): Promise<Layers | undefined> {
    const tile = await this.#file.getZxy(base.z, base.x, base.y)
    if (!tile) return undefined
    const { layers } = new VectorTile(new PbfReader(new Uint8Array(tile.data)))
    return Object.fromEntries(
      Object.entries(layers).map(([name, shapes]) => [name, new Cuttable(shapes as unknown as Shapes, base)])
    )
  }
}
