// The finer part of the built-in map: coasts, borders, towns and names from bundled tiles.
import type { ExpressionSpecification, LayerSpecification, SourceSpecification } from 'maplibre-gl'
import { fonts } from './fonts'
import { bundledTiles, levels, type Level } from './bundledTiles'
import type { Palette } from './palette'

export function detailSources(): Record<Level, SourceSpecification> {
  const source = (level: Level): SourceSpecification => ({
    type: 'vector',
    tiles: [bundledTiles()],
    minzoom: levels[level],
    maxzoom: levels[level],
    attribution: '© OpenStreetMap contributors, GeoNames'
  })
  return { region: source('region'), local: source('local') }
}

/** Names in the user's language, where the map has them. */
const nameIn = (language: string): ExpressionSpecification => ['coalesce', ['get', `name_${language}`], ['get', 'name']]

/** A layer of one kind of shapes of one level. */
const layerOf = (
  level: Level,
  name: string
): { id: string; source: Level; 'source-layer': string; minzoom: number } => ({
  id: `${level}-${name}`,
  source: level,
  'source-layer': name,
  minzoom: levels[level]
})

/** Sea, land and ice of one level: each tile with land has a sea that hides the coarser land below it. */
function surfaces(level: Level, colour: Palette): LayerSpecification[] {
  return [
    { ...layerOf(level, 'sea'), type: 'fill', paint: { 'fill-color': colour.sea, 'fill-antialias': false } },
    // Depths are in the coarser tiles only; for the finer land they are drawn again above its sea.
    {
      ...layerOf('region', 'depth'),
      id: `${level}-depth`,
      type: 'fill',
      ...(level === 'region' ? { maxzoom: levels.local } : { minzoom: levels.local }),
      paint: {
        'fill-color': colour.deep,
        'fill-antialias': false,
        'fill-opacity': ['match', ['get', 'depth'], 200, 0.5, 1]
      }
    },
    // Lakes are shapes of their own above the land, and islands above lakes, in the order of the tile.
    {
      ...layerOf(level, 'land'),
      type: 'fill',
      paint: { 'fill-color': ['case', ['has', 'water'], colour.sea, ['has', 'ice'], colour.ice, colour.land] }
    },
    { ...layerOf(level, 'ice'), type: 'fill', paint: { 'fill-color': colour.ice } }
  ]
}

function lines(level: Level, colour: Palette): LayerSpecification[] {
  const until = level === 'region' ? { maxzoom: levels.local } : {}
  const width = (from: number, to: number): ExpressionSpecification => [
    'interpolate',
    ['linear'],
    ['zoom'],
    5,
    from,
    12,
    to
  ]
  return [
    {
      ...layerOf(level, 'land'),
      id: `${level}-coast`,
      type: 'line',
      ...until,
      paint: { 'line-color': colour.coast, 'line-width': width(0.7, 1.4) }
    },
    {
      ...layerOf(level, 'river'),
      type: 'line',
      // They are too coarse for a larger scale.
      maxzoom: level === 'region' ? levels.local : 10,
      paint: { 'line-color': colour.river, 'line-width': width(0.8, 3) }
    },
    {
      ...layerOf(level, 'province'),
      type: 'line',
      ...until,
      paint: { 'line-color': colour.state, 'line-width': width(0.8, 1.6) }
    },
    {
      ...layerOf(level, 'border'),
      type: 'line',
      ...until,
      paint: { 'line-color': colour.border, 'line-width': width(1.2, 2.2), 'line-dasharray': [3, 2] }
    }
  ]
}

/** From below to above: surfaces of both levels, then lines. */
function shapes(colour: Palette): LayerSpecification[] {
  return [
    ...surfaces('region', colour),
    // Built-up areas are too coarse for shores at a larger scale; the finer land hides them there.
    { ...layerOf('region', 'urban'), type: 'fill', paint: { 'fill-color': colour.urban } },
    ...surfaces('local', colour),
    { ...layerOf('local', 'reef'), type: 'line', paint: { 'line-color': colour.reef, 'line-dasharray': [2, 2] } },
    ...lines('region', colour),
    ...lines('local', colour)
  ]
}

/** The tiles with names, one level at a time. */
function names(level: Level, colour: Palette, language: string): LayerSpecification[] {
  const range = level === 'region' ? { minzoom: levels.region, maxzoom: levels.local } : { minzoom: levels.local }
  const halo = { 'text-halo-color': colour.halo, 'text-halo-width': 1.4 }
  return [
    {
      id: `${level}-place-names`,
      type: 'symbol',
      source: level,
      'source-layer': 'place',
      ...range,
      layout: {
        'text-field': nameIn(language),
        'text-font': fonts.regular,
        'text-size': 11.5,
        'text-max-width': 8,
        'symbol-sort-key': ['match', ['get', 'kind'], 'cape', 0, 'island', 1, 'lake', 2, 3]
      },
      paint: { 'text-color': ['match', ['get', 'kind'], ['lake', 'port'], colour.water, colour.name], ...halo }
    },
    {
      id: `${level}-town-names`,
      type: 'symbol',
      source: level,
      'source-layer': 'town',
      ...range,
      // From a slightly lower zoom than the tiles give; labels that would collide are hidden anyway.
      filter: ['<=', ['get', 'zoom'], ['+', ['zoom'], 0.6]],
      layout: {
        'text-field': ['get', 'name'],
        'text-font': ['case', ['has', 'capital'], ['literal', fonts.bold], ['literal', fonts.regular]],
        'text-size': [
          'interpolate',
          ['linear'],
          ['zoom'],
          5,
          ['-', 14, ['*', 0.5, ['get', 'zoom']]],
          10,
          ['-', 19, ['*', 0.8, ['get', 'zoom']]]
        ],
        'text-variable-anchor': ['bottom', 'top', 'left', 'right'],
        'text-radial-offset': 0.35,
        'text-max-width': 9,
        'symbol-sort-key': ['get', 'zoom']
      },
      paint: { 'text-color': colour.town, ...halo }
    },
    {
      id: `${level}-town-dots`,
      type: 'circle',
      source: level,
      'source-layer': 'town',
      ...range,
      filter: ['<=', ['get', 'zoom'], ['+', ['zoom'], 0.6]],
      paint: {
        'circle-radius': ['interpolate', ['linear'], ['get', 'zoom'], 4, 3.2, 11, 1.6],
        'circle-color': colour.halo,
        'circle-stroke-color': colour.town,
        'circle-stroke-width': 1.2
      }
    }
  ]
}

/** From below to above: shapes of both levels, then the names. */
export function detailLayers(colour: Palette, language: string): LayerSpecification[] {
  return [...shapes(colour), ...names('region', colour, language), ...names('local', colour, language)]
}

/** Oceans, seas, bays and straits. */
export function seaNames(colour: Palette, language: string): LayerSpecification[] {
  return [
    {
      id: 'sea-names',
      type: 'symbol',
      source: 'seas',
      filter: ['all', ['<=', ['get', 'from'], ['zoom']], ['>=', ['+', ['get', 'to'], 3], ['zoom']]],
      layout: {
        'text-field': nameIn(language),
        'text-font': fonts.regular,
        'text-size': ['case', ['==', ['get', 'kind'], 'ocean'], 14, 11.5],
        'text-letter-spacing': 0.12,
        'text-max-width': 7,
        'symbol-sort-key': ['get', 'from']
      },
      paint: { 'text-color': colour.water, 'text-halo-color': colour.sea, 'text-halo-width': 1 }
    }
  ]
}
