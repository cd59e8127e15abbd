// The available maps: the built-in one and those of the operator, and overlays.
import type { LayerSpecification, SourceSpecification } from 'maplibre-gl'
import { address, api, ok, root } from '$lib/api/client'
import { addPmtiles } from './bundledTiles'

export interface OperatorLayer {
  /** Null for the single map of older settings. */
  name: string | null
  /** Whether it is drawn over any map. */
  overlay: boolean
  kind: 'pmtiles' | 'tiles'
  format: 'vector' | 'raster'
  url: string
  attribution: string
  minZoom: number
  maxZoom: number
  bounds: [number, number, number, number] | null
}

const key = 'perigee.layer'
const overlaysKey = 'perigee.overlays'

class MapLayers {
  /** The secret of the share link whose page this is: tiles that the server fetches are for its viewers too. */
  share: string | null = null
  /** The operator's maps, in order of preference. */
  operator: OperatorLayer[] = $state([])
  overlays: OperatorLayer[] = $state([])
  /** The index of the operator's map that is shown; null for only the built-in map. */
  chosen: number | null = $state(null)
  /** Names of the overlays that are shown. */
  shown: string[] = $state([])
  /** Whether the server has the bundled map. */
  bundled = $state(false)
  /** The initial view of the map while there are no devices. */
  begin: { center: [number, number]; zoom: number } | null = null
  #asked: Promise<void> | null = null

  /** Whether the maps of the server are known. */
  isLoaded = $state(false)

  /** Loads the operator's maps again, after they were changed. */
  reload(): Promise<void> {
    this.#asked = null
    return this.load()
  }

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
    if (map.bundled) await addPmtiles()
    this.bundled = map.bundled
    const layers = map.layers as OperatorLayer[]
    this.operator = layers.filter(({ overlay }) => !overlay)
    this.overlays = layers.filter(({ overlay }) => overlay)
    this.shown = readList().filter((name) => this.overlays.some((layer) => layer.name === name))
    this.chosen = this.#storedChoice(read(key))
    this.isLoaded = true
  }

  /** The map of an earlier visit, by its name. The first map of the operator is shown unless the user chose another. */
  #storedChoice(kept: string | null): number | null {
    if (this.operator.length === 0 || kept === 'none') return null
    const named = this.operator.findIndex((layer) => nameIn(layer) === kept)
    return Math.max(0, named)
  }

  choose(index: number | null): void {
    this.chosen = index
    const layer = index === null ? undefined : this.operator[index]
    keep(key, layer ? nameIn(layer) : 'none')
  }

  /** Shows or hides an overlay. */
  show(name: string, on: boolean): void {
    this.shown = on ? [...this.shown.filter((other) => other !== name), name] : this.shown.filter((one) => one !== name)
    keep(overlaysKey, JSON.stringify(this.shown))
  }

  get layer(): OperatorLayer | null {
    return this.chosen === null ? null : (this.operator[this.chosen] ?? null)
  }

  /** The overlays that are shown, in the operator's order. */
  get over(): OperatorLayer[] {
    return this.overlays.filter(({ name }) => name !== null && this.shown.includes(name))
  }
}

/** The key under which a choice is stored. */
const nameIn = ({ name }: OperatorLayer): string => `layer ${name ?? ''}`

function read(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

function readList(): string[] {
  try {
    const list: unknown = JSON.parse(read(overlaysKey) ?? '[]')
    return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value)
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

export const mapLayers = new MapLayers()

/** The source and the layers that draw one of the operator's maps over the built-in one. */
export async function drawn(
  layer: OperatorLayer,
  id: string,
  { dark, language }: { dark: boolean; language: string }
): Promise<{ source: SourceSpecification; layers: LayerSpecification[] }> {
  const common = {
    minzoom: layer.minZoom,
    maxzoom: layer.maxZoom,
    attribution: escaped(layer.attribution),
    ...(layer.bounds ? { bounds: layer.bounds } : {})
  }
  const source =
    layer.kind === 'pmtiles' ? { url: `pmtiles://${absolute(layer.url)}` } : { tiles: [absolute(layer.url)] }
  if (layer.kind === 'pmtiles') await addPmtiles()
  if (layer.format === 'raster') {
    return {
      source: { type: 'raster', tileSize: 256, ...common, ...source },
      layers: [{ id, type: 'raster', source: id }]
    }
  }
  const { styleOf } = await import('./vectorStyle')
  return { source: { type: 'vector', ...common, ...source }, layers: styleOf(id, dark, language) }
}

/** The absolute URL; placeholders in braces stay unchanged. */
function absolute(url: string): string {
  if (!url.startsWith('api/')) return new URL(url, root).href.replaceAll('%7B', '{').replaceAll('%7D', '}')
  const query = mapLayers.share ? `?share=${encodeURIComponent(mapLayers.share)}` : ''
  return address(url).replaceAll('%7B', '{').replaceAll('%7D', '}') + query
}

/** The map renders attributions as HTML; the operator's text is escaped. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
