// The route of a plan on the map: its line and its numbered waypoints. In the editor the waypoints can be dragged.
import { Marker, type Map } from 'maplibre-gl'
import { fonts } from '$lib/map/basemap/fonts'
import { lineFeature, Overlay, pointFeature } from '$lib/map/draw/lineLayer'
import { drawable, unwrap, wrap, type Point } from '$lib/map/geometry/geodesy'

export interface RoutePoint {
  latitude: number
  longitude: number
  name?: string | null
}

const pointOf = ({ longitude, latitude }: RoutePoint): Point => [longitude, latitude]

export class RouteLayer {
  readonly #overlay: Overlay

  constructor(map: Map, dark: boolean) {
    const [colour, ground] = dark ? ['#ff9d5c', '#0d1620'] : ['#c2410c', '#ffffff']
    const isPoint = ['==', ['geometry-type'], 'Point']
    this.#overlay = new Overlay(map, 'plan-route', [
      {
        type: 'line',
        layout: { 'line-cap': 'round', 'line-join': 'round' },
        paint: { 'line-color': colour, 'line-width': 2.5, 'line-dasharray': [2, 1.5] }
      },
      {
        type: 'circle',
        filter: isPoint,
        paint: {
          'circle-radius': 5,
          'circle-color': ground,
          'circle-stroke-width': 2.5,
          'circle-stroke-color': colour
        }
      },
      {
        type: 'symbol',
        filter: isPoint,
        layout: {
          'text-field': ['get', 'label'],
          'text-font': fonts.bold,
          'text-size': 12,
          'text-offset': [0, 1.2],
          'text-max-width': 12
        },
        paint: { 'text-color': colour, 'text-halo-color': ground, 'text-halo-width': 1.4 }
      }
    ])
  }

  show(points: RoutePoint[]): void {
    const line = unwrap(points.map(pointOf))
    this.#overlay.show([
      ...drawable(line).map(lineFeature),
      ...line.map((point, index) =>
        pointFeature(point, { label: points[index]?.name ? `${index + 1} ${points[index].name}` : String(index + 1) })
      )
    ])
  }

  remove(): void {
    this.#overlay.remove()
  }
}

/** Handles by which waypoints are dragged; the list of waypoints is the way for the keyboard. */
export class RouteHandles {
  readonly #markers: Marker[] = []

  constructor(
    private readonly map: Map,
    private readonly onmove: (index: number, position: RoutePoint) => void
  ) {}

  show(points: RoutePoint[]): void {
    const line = unwrap(points.map(pointOf))
    for (const marker of this.#markers.splice(line.length)) marker.remove()
    line.forEach((point, index) => (this.#markers[index] ?? this.#add(index, point)).setLngLat(point))
  }

  remove(): void {
    this.show([])
  }

  #add(index: number, at: Point): Marker {
    const element = document.createElement('div')
    element.className = 'route-handle'
    // A click on a handle is not a click on the map below it.
    element.addEventListener('click', (event) => event.stopPropagation())
    const marker = new Marker({ element, draggable: true }).setLngLat(at).addTo(this.map)
    element.removeAttribute('role')
    element.removeAttribute('tabindex')
    element.removeAttribute('aria-label')
    element.setAttribute('aria-hidden', 'true')
    marker.on('dragend', () => {
      const { lng, lat } = marker.getLngLat()
      this.onmove(index, { longitude: wrap(lng), latitude: lat })
    })
    this.#markers[index] = marker
    return marker
  }
}
