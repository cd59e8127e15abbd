// Pulsing markers of critical alerts. They are elements over the map, not a layer in it, so that no cluster and no
// label ever covers them.
import { Marker, type Map } from 'maplibre-gl'

export interface Sos {
  /** ID of the device. */
  id: string
  latitude: number
  longitude: number
  label: string
  /** Markers of acknowledged alerts do not pulse. */
  acknowledged: boolean
}

export class SosMarkers {
  readonly #shown = new globalThis.Map<string, Marker>()

  constructor(
    private readonly map: Map,
    private readonly onpick: (id: string) => void
  ) {}

  show(all: Sos[]): void {
    const wanted = new Set(all.map(({ id }) => id))
    for (const [id, marker] of this.#shown) {
      if (wanted.has(id)) continue
      marker.remove()
      this.#shown.delete(id)
    }
    for (const sos of all) {
      const marker = (this.#shown.get(sos.id) ?? this.#add(sos)).setLngLat([sos.longitude, sos.latitude])
      const button = marker.getElement()
      button.classList.toggle('acknowledged', sos.acknowledged)
      button.setAttribute('aria-label', sos.label)
      button.title = sos.label
    }
  }

  remove(): void {
    this.show([])
  }

  #add(sos: Sos): Marker {
    const element = document.createElement('button')
    element.type = 'button'
    element.className = 'sos-marker'
    element.addEventListener('click', (event) => {
      // The map below must not take the click too.
      event.stopPropagation()
      this.onpick(sos.id)
    })
    const marker = new Marker({ element }).setLngLat([sos.longitude, sos.latitude]).addTo(this.map)
    this.#shown.set(sos.id, marker)
    return marker
  }
}
