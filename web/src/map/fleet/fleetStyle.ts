// How the fleet is drawn: its sources and layers, from below to above.
import type { ExpressionSpecification, LayerSpecification } from 'maplibre-gl'
import { fonts } from '$lib/map/basemap/fonts'

export const fleetSource = 'fleet'
export const legSource = 'fleet-legs'
/** Other layers are inserted below this layer. */
export const lowestFleetLayer = 'fleet-legs'
/** The layers whose features can be clicked. */
export const deviceLayers = ['fleet-top', 'fleet-devices']
export const clusterLayer = 'fleet-clusters'

const has = (name: string): ExpressionSpecification => ['==', ['get', name], true]
const not = (filter: ExpressionSpecification): ExpressionSpecification => ['!', filter]
const isCluster: ExpressionSpecification = ['has', 'count']

export function fleetLayers(dark: boolean): LayerSpecification[] {
  const halo = dark ? '#0d1620' : '#ffffff'
  const text = dark ? '#e8edf3' : '#15202b'
  const muted = dark ? '#a9b6c4' : '#52606d'
  const accent = dark ? '#7db4ff' : '#0b5cc9'
  const alarm = dark ? '#ff5a4d' : '#d11a10'
  const pictures = {
    'icon-image': ['get', 'icon'] as ExpressionSpecification,
    'icon-allow-overlap': true,
    'symbol-sort-key': ['get', 'order'] as ExpressionSpecification
  }
  const opacity = { 'icon-opacity': ['get', 'opacity'] as ExpressionSpecification }
  return [
    { id: 'fleet-legs', type: 'line', source: legSource, paint: { 'line-color': muted, 'line-width': 1.2 } },
    {
      id: 'fleet-labels',
      type: 'symbol',
      source: fleetSource,
      filter: ['has', 'name'],
      layout: {
        'text-field': [
          'format',
          ['get', 'name'],
          {},
          ['case', ['==', ['get', 'age'], ''], '', ['concat', '\n', ['get', 'age']]],
          { 'font-scale': 0.86, 'text-color': muted }
        ],
        'text-font': fonts.bold,
        'text-size': 12,
        // A label is drawn on a side of the picture where it fits, or else hidden. Pictures of devices and clusters are
        // above this layer, so they are positioned first.
        'text-variable-anchor': ['top', 'bottom', 'left', 'right'],
        // In ems; less would collide with the picture of the device or the arrow of its course.
        'text-radial-offset': [
          'case',
          ['has', 'course'],
          ['case', has('drawing'), 2.5, 2],
          ['case', has('drawing'), 1.9, 1.5]
        ],
        'text-justify': 'auto',
        'text-max-width': 12,
        'text-padding': 2,
        'symbol-sort-key': ['get', 'order']
      },
      paint: {
        'text-color': text,
        'text-opacity': ['get', 'opacity'],
        'text-halo-color': halo,
        'text-halo-width': 1.5
      }
    },
    {
      id: 'fleet-headings',
      type: 'symbol',
      source: fleetSource,
      filter: ['has', 'course'],
      layout: {
        'icon-image': ['get', 'heading'],
        'icon-rotate': ['get', 'course'],
        'icon-rotation-alignment': 'map',
        'icon-allow-overlap': true,
        'icon-ignore-placement': true
      },
      paint: opacity
    },
    {
      id: 'fleet-devices',
      type: 'symbol',
      source: fleetSource,
      filter: ['all', not(isCluster), not(has('top'))],
      layout: pictures,
      paint: opacity
    },
    {
      id: clusterLayer,
      type: 'symbol',
      source: fleetSource,
      filter: isCluster,
      layout: {
        ...pictures,
        'icon-size': ['interpolate', ['linear'], ['ln', ['get', 'count']], 0.7, 0.62, 8, 1.1],
        'text-field': ['get', 'short'],
        'text-font': fonts.bold,
        'text-size': ['interpolate', ['linear'], ['ln', ['get', 'count']], 0.7, 11.5, 8, 15],
        'text-allow-overlap': true
      },
      paint: { 'text-color': ['get', 'ink'], 'text-opacity': ['get', 'opacity'], ...opacity }
    },
    {
      id: 'fleet-alarm',
      type: 'circle',
      source: fleetSource,
      filter: has('alarm'),
      paint: {
        'circle-radius': 24,
        'circle-color': alarm,
        'circle-opacity': 0.3,
        'circle-stroke-color': alarm,
        'circle-stroke-width': 2
      }
    },
    {
      id: 'fleet-ring',
      type: 'circle',
      source: fleetSource,
      filter: has('picked'),
      paint: {
        'circle-radius': ['case', has('drawing'), 20, 15],
        'circle-color': 'rgb(0 0 0 / 0%)',
        'circle-stroke-color': accent,
        'circle-stroke-width': 3
      }
    },
    { id: 'fleet-top', type: 'symbol', source: fleetSource, filter: has('top'), layout: pictures, paint: opacity }
  ]
}
