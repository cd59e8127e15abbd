// Devices near the poles on the globe. The tiles of the map end at 85 degrees, so these devices are drawn as markers.
import { Marker, type Map as MapLibreMap } from 'maplibre-gl'
import { statusColours } from './colours'
import type { DeviceSpot } from './fleetScene'
import { labelOf } from './label'

/** Maximum number of markers; further devices are not shown. */
const mostMarkers = 200

export class PolarMarkers {
  readonly #markers = new Map<number, Marker>()

  constructor(
    private readonly map: MapLibreMap,
    private readonly options: { dark: boolean; onpick: (id: string) => void }
  ) {}

  /** Shows exactly these devices. */
  show(spots: DeviceSpot[], picked: string | undefined): void {
    const wanted = new Map(spots.slice(0, mostMarkers).map((spot) => [spot.key, spot]))
    for (const [key, marker] of this.#markers) {
      if (wanted.has(key)) continue
      marker.remove()
      this.#markers.delete(key)
    }
    for (const [key, spot] of wanted) this.#put(key, spot, picked)
  }

  #put(key: number, { tracked, status, severity }: DeviceSpot, picked: string | undefined): void {
    const { device, location } = tracked
    if (!location) return
    let marker = this.#markers.get(key)
    if (!marker) {
      marker = new Marker({ element: this.#element(device.id), anchor: 'center', opacityWhenCovered: '0' })
      this.#markers.set(key, marker)
    }
    marker.setLngLat([location.longitude, location.latitude]).addTo(this.map)
    const element = marker.getElement()
    element.textContent = labelOf(device.name)
    const isPicked = device.id === picked
    const ring = severity === 'critical' ? '#d11a10' : isPicked ? (this.options.dark ? '#7db4ff' : '#0b5cc9') : ''
    element.style.background = statusColours(this.options.dark)[status]
    element.style.outline = ring ? `3px solid ${ring}` : ''
  }

  #element(id: string): HTMLElement {
    const button = document.createElement('button')
    button.type = 'button'
    Object.assign(button.style, {
      padding: '2px 8px',
      border: `2px solid ${this.options.dark ? '#0d1620' : '#ffffff'}`,
      borderRadius: '999px',
      color: this.options.dark ? '#10181f' : '#ffffff',
      font: '600 12px sans-serif',
      cursor: 'pointer'
    })
    button.addEventListener('click', (event) => {
      event.stopPropagation()
      this.options.onpick(id)
    })
    return button
  }

  remove(): void {
    for (const marker of this.#markers.values()) marker.remove()
    this.#markers.clear()
  }
}
