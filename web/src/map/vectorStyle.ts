// How the operator's vector tiles (the Protomaps scheme, which the common planet files have) are drawn.
import { layers, namedFlavor } from '@protomaps/basemaps'
import type { LayerSpecification } from 'maplibre-gl'

export function styleOf(dark: boolean, language: string): LayerSpecification[] {
  const all = layers('operator', namedFlavor(dark ? 'dark' : 'light'), { lang: language })
  // The pictures of shields and places would have to come from elsewhere; the names do without them.
  return all.map((layer) => {
    if (layer.type !== 'symbol' || !layer.layout) return layer
    const layout = { ...layer.layout }
    delete layout['icon-image']
    return { ...layer, layout }
  })
}
