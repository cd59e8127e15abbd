// How the operator's vector tiles (the Protomaps scheme, which the common planet files have) are drawn.
import { layers, namedFlavor } from '@protomaps/basemaps'
import type { LayerSpecification } from 'maplibre-gl'

export function styleOf(source: string, dark: boolean, language: string): LayerSpecification[] {
  const all = layers(source, namedFlavor(dark ? 'dark' : 'light'), { lang: language })
  // Icons of road shields and places would need a sprite from another host, so only names are drawn.
  return all.map((layer) => {
    if (layer.type !== 'symbol' || !layer.layout) return layer
    const layout = { ...layer.layout }
    delete layout['icon-image']
    return { ...layer, layout }
  })
}
