// Whether the basemap is there, apart from what is drawn over it.
import type { Map } from 'maplibre-gl'

const own = new Set(['outlines', 'world', 'region', 'local'])
const isBasemap = (id: string): boolean => own.has(id) || id.startsWith('operator-')

/** Whether every shape of the basemap in view is loaded, or has failed to load. */
export function isBasemapLoaded(map: Map): boolean {
  // The style is undefined until the first one is set.
  const sources = (map.style as typeof map.style | undefined)?.stylesheet?.sources
  if (!sources) return false
  return Object.keys(sources).every((id) => !isBasemap(id) || !map.getSource(id) || map.isSourceLoaded(id))
}
