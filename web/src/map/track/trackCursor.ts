// The marker that moves along a track, turned into the direction of travel.
import { Marker, type Map } from 'maplibre-gl'
import type { Moment } from './trackAt'

const space = 'http://www.w3.org/2000/svg'

function picture(): HTMLElement {
  const element = document.createElement('div')
  element.className = 'track-cursor'
  const svg = document.createElementNS(space, 'svg')
  svg.setAttribute('viewBox', '-16 -16 32 32')
  svg.setAttribute('width', '36')
  svg.setAttribute('height', '36')
  svg.setAttribute('aria-hidden', 'true')
  const disc = document.createElementNS(space, 'circle')
  disc.setAttribute('r', '14')
  disc.setAttribute('class', 'disc')
  const shape = document.createElementNS(space, 'path')
  shape.setAttribute('d', 'M0-9 6.500 7 0 3.500-6.500 7z')
  shape.setAttribute('class', 'shape')
  svg.append(disc, shape)
  element.append(svg)
  return element
}

export class TrackCursor {
  readonly #marker: Marker
  #isOnMap = false

  constructor(private readonly map: Map) {
    this.#marker = new Marker({ element: picture(), rotationAlignment: 'map' })
  }

  /** Moves the marker to a moment; null removes it. */
  show(moment: Moment | null): void {
    if (!moment) return this.remove()
    this.#marker.setLngLat([moment.longitude, moment.latitude]).setRotation(moment.course ?? 0)
    this.#marker.getElement().classList.toggle('guessed', moment.inGap)
    if (this.#isOnMap) return
    this.#marker.addTo(this.map)
    // Hidden from screen readers: the same information is in text beside the map.
    this.#marker.getElement().removeAttribute('role')
    this.#marker.getElement().setAttribute('aria-hidden', 'true')
    this.#marker.getElement().removeAttribute('tabindex')
    this.#isOnMap = true
  }

  remove(): void {
    this.#marker.remove()
    this.#isOnMap = false
  }
}
