// The basemap in the colours of the theme, with names in the user's language: the world from the program itself, and
// from zoom 5 on the tiles of the bundled map, if the server has them. The operator's tiles, when there are any, lie
// between it and the devices.
import type { ExpressionSpecification, LayerSpecification, StyleSpecification } from 'maplibre-gl'
import regular from '@fontsource/noto-sans/files/noto-sans-latin-400-normal.woff2?url'
import bold from '@fontsource/noto-sans/files/noto-sans-latin-600-normal.woff2?url'
import { root } from '$lib/api/client'
import { levels } from './bundledTiles'
import { detailLayers, detailSources, seaNames } from './detail'
import { localeOf } from '$lib/access/languages'
import { fonts } from './fonts'
import { palettes, type Palette } from './palette'

export { fonts }

export type Names = Record<string, string>

/** The names of countries in a language, as the browser knows them. */
function namesIn(language: string, codes: string[]): Names {
  const names = new Intl.DisplayNames(localeOf(language), { type: 'region' })
  return Object.fromEntries(codes.map((code) => [code, names.of(code) ?? code]))
}

const kindIs = (kind: string): ['==', ['get', string], string] => ['==', ['get', 'kind'], kind]

/** Above this zoom the tiles of the bundled map show everything. */
const coarseUntilZoom = 5.5

/** Sea and land of a source of the program: too coarse for the zooms of the finer tiles, where some land would be sea. */
function surfaces(source: 'outlines' | 'world', colour: Palette, hasTiles: boolean): LayerSpecification[] {
  const common = { type: 'fill', source, ...(hasTiles ? { maxzoom: levels.local } : {}) } as const
  return [
    {
      id: `${source}-sea`,
      ...common,
      filter: kindIs('sea'),
      paint: { 'fill-color': colour.sea, 'fill-antialias': false }
    },
    { id: `${source}-land`, ...common, filter: kindIs('land'), paint: { 'fill-color': colour.land } }
  ]
}

function worldLayers(colour: Palette, hasTiles: boolean): LayerSpecification[] {
  const range = hasTiles ? { maxzoom: coarseUntilZoom } : {}
  return [
    { id: 'unknown', type: 'background', paint: { 'background-color': colour.unknown } },
    ...surfaces('outlines', colour, hasTiles),
    ...surfaces('world', colour, hasTiles),
    {
      id: 'coast',
      type: 'line',
      source: 'world',
      ...range,
      filter: kindIs('land'),
      paint: { 'line-color': colour.coast, 'line-width': 0.8 }
    },
    {
      id: 'lakes',
      type: 'fill',
      source: 'world',
      ...range,
      filter: kindIs('lakes'),
      paint: { 'fill-color': colour.sea }
    },
    {
      id: 'rivers',
      type: 'line',
      source: 'world',
      minzoom: 3,
      ...range,
      filter: kindIs('rivers'),
      paint: { 'line-color': colour.river, 'line-width': ['interpolate', ['linear'], ['zoom'], 3, 0.4, 8, 2] }
    },
    {
      id: 'states',
      type: 'line',
      source: 'world',
      minzoom: 3.5,
      ...range,
      filter: kindIs('states'),
      paint: { 'line-color': colour.state, 'line-width': 0.8 }
    },
    {
      id: 'borders',
      type: 'line',
      source: 'world',
      ...range,
      filter: kindIs('borders'),
      paint: {
        'line-color': colour.border,
        'line-width': ['interpolate', ['linear'], ['zoom'], 1, 0.4, 6, 1.6],
        'line-dasharray': [3, 2]
      }
    }
  ]
}

const countryNames = (colour: Palette): LayerSpecification => ({
  id: 'names',
  type: 'symbol',
  source: 'names',
  minzoom: 1,
  maxzoom: 8,
  filter: ['<=', ['get', 'rank'], ['+', ['zoom'], 0.5]],
  layout: {
    'text-field': ['get', 'name'],
    'text-font': fonts.regular,
    'text-size': ['interpolate', ['linear'], ['zoom'], 2, 10, 6, 14],
    'text-letter-spacing': 0.06,
    'text-max-width': 7,
    'symbol-sort-key': ['get', 'rank'] as ExpressionSpecification
  },
  paint: { 'text-color': colour.name, 'text-halo-color': colour.halo, 'text-halo-width': 1.2 }
})

export type CountryNames = GeoJSON.FeatureCollection<GeoJSON.Point, { code: string; rank: number; name?: string }>

/** Where countries are named. */
export const loadNames = (): Promise<CountryNames> => load<CountryNames>('names.json')

/** Land in few points, and the sea around it: small, so that a slow network shows both early. */
export const loadOutlines = (): Promise<GeoJSON.FeatureCollection> => load<GeoJSON.FeatureCollection>('land.json')

async function load<T>(file: string): Promise<T> {
  const answer = await fetch(new URL(`basemap/${file}`, root))
  return (await answer.json()) as T
}

export interface BasemapOptions {
  dark: boolean
  language: string
  names: CountryNames
  outlines: GeoJSON.FeatureCollection
  /** Whether the server has the bundled map. */
  hasTiles: boolean
}

export function basemap({ dark, language, names, outlines, hasTiles }: BasemapOptions): StyleSpecification {
  const colour = dark ? palettes.dark : palettes.light
  const known = namesIn(
    language,
    names.features.map(({ properties }) => properties.code)
  )
  const named = {
    ...names,
    features: names.features.map((place) => ({
      ...place,
      properties: { ...place.properties, name: known[place.properties.code] }
    }))
  }
  return {
    version: 8,
    'font-faces': {
      'Noto Sans Regular': absolute(regular),
      'Noto Sans Italic': absolute(regular),
      'Noto Sans Medium': absolute(bold)
    },
    sources: {
      outlines: { type: 'geojson', data: outlines, maxzoom: 7 },
      world: {
        type: 'geojson',
        data: new URL('basemap/world.json', root).href,
        maxzoom: 7,
        tolerance: 0.4,
        attribution: 'Natural Earth'
      },
      names: { type: 'geojson', data: named },
      seas: { type: 'geojson', data: new URL('basemap/seas.json', root).href },
      ...(hasTiles ? detailSources() : {})
    },
    layers: [
      ...worldLayers(colour, hasTiles),
      ...(hasTiles ? detailLayers(colour, language) : []),
      ...seaNames(colour, language),
      countryNames(colour)
    ]
  }
}

const absolute = (url: string): string => new URL(url, document.baseURI).href
