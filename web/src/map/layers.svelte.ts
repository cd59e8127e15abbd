// The maps there are to choose from: the built-in one, and the operator's own.
import { addProtocol, type LayerSpecification, type SourceSpecification } from 'maplibre-gl'
import { address, api, ok, root } from '../api/client'

export interface OperatorLayer {
  kind: 'pmtiles' | 'tiles'
  format: 'vector' | 'raster'
  url: string
  attribution: string
  minZoom: number
  maxZoom: number
  bounds: [number, number, number, number] | null
}

const key = 'perigee.layer'

class MapLayers {
  operator: OperatorLayer[] = $state([])
  /** The index of the operator's layer that is shown; null is the built-in map alone. */
  chosen: number | null = $state(null)
  /** The view of the map while there is nothing to show. */
  begin: { center: [number, number]; zoom: number } | null = null
  #asked: Promise<void> | null = null

  /** Loads the operator's maps, once unless that failed. */
  load(): Promise<void> {
    this.#asked ??= this.#load().catch((error: unknown) => {
      this.#asked = null
      throw error
    })
    return this.#asked
  }

  async #load(): Promise<void> {
    const { map } = await ok(api.GET('/api/console'))
    this.begin = { center: map.center as [number, number], zoom: map.zoom }
    this.operator = map.layers as OperatorLayer[]
    const kept = read()
    // The operator set a better map up, so it is shown unless the user chose otherwise.
    this.chosen =
      this.operator.length === 0 || kept === 'none' ? null : Math.min(Number(kept ?? 0), this.operator.length - 1)
  }

  choose(index: number | null): void {
    this.chosen = index
    try {
      localStorage.setItem(key, index === null ? 'none' : String(index))
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  }

  get layer(): OperatorLayer | null {
    return this.chosen === null ? null : (this.operator[this.chosen] ?? null)
  }
}

function read(): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

export const mapLayers = new MapLayers()

/** The source and the layers that draw the operator's map over the built-in one. */
export async function drawn(
  layer: OperatorLayer,
  dark: boolean,
  language: string
): Promise<{ source: SourceSpecification; layers: LayerSpecification[] }> {
  const common = {
    minzoom: layer.minZoom,
    maxzoom: layer.maxZoom,
    attribution: escaped(layer.attribution),
    ...(layer.bounds ? { bounds: layer.bounds } : {})
  }
  const source = layer.kind === 'pmtiles' ? { url: `pmtiles://${await pmtiles(layer.url)}` } : { tiles: [layer.url] }
  if (layer.format === 'raster') {
    return {
      source: { type: 'raster', tileSize: 256, ...common, ...source },
      layers: [{ id: 'operator', type: 'raster', source: 'operator' }]
    }
  }
  const { styleOf } = await import('./vectorStyle')
  return { source: { type: 'vector', ...common, ...source }, layers: styleOf(dark, language) }
}

let reading: Promise<void> | undefined

/** Lets the map read parts of a PMTiles file; fetched only where an operator has one. */
async function pmtiles(url: string): Promise<string> {
  // One instance for all maps, because it caches what it has read.
  reading ??= import('pmtiles').then(({ Protocol }) => addProtocol('pmtiles', new Protocol().tile))
  await reading
  return url.startsWith('api/') ? address(url) : new URL(url, root).href
}

/** The map renders attributions as HTML; the operator's text is escaped. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
