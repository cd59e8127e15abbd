// The built-in basemap: Natural Earth from the program itself, in the colours of the theme, with names in the user's
// language. The operator's tiles, when there are any, lie between it and the devices.
import type { LayerSpecification, StyleSpecification } from 'maplibre-gl'
import regular from '@fontsource/noto-sans/files/noto-sans-latin-400-normal.woff2?url'
import bold from '@fontsource/noto-sans/files/noto-sans-latin-600-normal.woff2?url'
import { root } from '../api/client'

/** The names under which styles of vector tiles ask for the same fonts. */
export const fonts = { regular: ['Noto Sans Regular'], bold: ['Noto Sans Medium'] }

const palettes = {
  light: {
    sea: '#cfe0ec',
    land: '#f4f3ee',
    water: '#cfe0ec',
    border: '#b5b1c4',
    state: '#dcd9e2',
    coast: '#a9c1d1',
    name: '#6d6a7c',
    halo: '#f4f3ee'
  },
  dark: {
    sea: '#0d1620',
    land: '#1a2430',
    water: '#0d1620',
    border: '#3d4b5d',
    state: '#263240',
    coast: '#2f3f50',
    name: '#8797a9',
    halo: '#141d27'
  }
}

export type Names = Record<string, string>

/** The names of countries in a language, as the browser knows them. */
function namesIn(language: string, codes: string[]): Names {
  const names = new Intl.DisplayNames(language, { type: 'region' })
  return Object.fromEntries(codes.map((code) => [code, names.of(code) ?? code]))
}

const kindIs = (kind: string): ['==', ['get', string], string] => ['==', ['get', 'kind'], kind]

/** The layers of the basemap, drawn first. */
function layers(dark: boolean): LayerSpecification[] {
  const colour = dark ? palettes.dark : palettes.light
  return [
    { id: 'sea', type: 'background', paint: { 'background-color': colour.sea } },
    { id: 'land', type: 'fill', source: 'world', filter: kindIs('land'), paint: { 'fill-color': colour.land } },
    {
      id: 'coast',
      type: 'line',
      source: 'world',
      filter: kindIs('land'),
      paint: { 'line-color': colour.coast, 'line-width': 0.8 }
    },
    { id: 'lakes', type: 'fill', source: 'world', filter: kindIs('lakes'), paint: { 'fill-color': colour.water } },
    {
      id: 'rivers',
      type: 'line',
      source: 'world',
      minzoom: 3,
      filter: kindIs('rivers'),
      paint: { 'line-color': colour.water, 'line-width': ['interpolate', ['linear'], ['zoom'], 3, 0.4, 8, 2] }
    },
    {
      id: 'states',
      type: 'line',
      source: 'world',
      minzoom: 3.5,
      filter: kindIs('states'),
      paint: { 'line-color': colour.state, 'line-width': 0.8 }
    },
    {
      id: 'borders',
      type: 'line',
      source: 'world',
      filter: kindIs('borders'),
      paint: {
        'line-color': colour.border,
        'line-width': ['interpolate', ['linear'], ['zoom'], 1, 0.4, 6, 1.6],
        'line-dasharray': [3, 2]
      }
    },
    {
      id: 'names',
      type: 'symbol',
      source: 'names',
      minzoom: 1,
      filter: ['<=', ['get', 'rank'], ['+', ['zoom'], 0.5]],
      layout: {
        'text-field': ['get', 'name'],
        'text-font': fonts.regular,
        'text-size': ['interpolate', ['linear'], ['zoom'], 2, 10, 6, 14],
        'text-letter-spacing': 0.06,
        'text-max-width': 7,
        'symbol-sort-key': ['get', 'rank']
      },
      paint: { 'text-color': colour.name, 'text-halo-color': colour.halo, 'text-halo-width': 1.2 }
    }
  ]
}

export type CountryNames = GeoJSON.FeatureCollection<GeoJSON.Point, { code: string; rank: number; name?: string }>

/** Where countries are named; fetched once. */
export async function loadNames(): Promise<CountryNames> {
  const answer = await fetch(new URL('basemap/names.json', root))
  return (await answer.json()) as CountryNames
}

export function basemap(dark: boolean, language: string, names: CountryNames): StyleSpecification {
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
      world: {
        type: 'geojson',
        data: new URL('basemap/world.json', root).href,
        maxzoom: 7,
        tolerance: 0.4,
        attribution: 'Natural Earth'
      },
      names: { type: 'geojson', data: named }
    },
    layers: layers(dark)
  }
}

const absolute = (url: string): string => new URL(url, document.baseURI).href
