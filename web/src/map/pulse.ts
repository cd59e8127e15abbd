// The ring around devices with a critical alert swells and fades, unless the user asked for less motion.
import type { Map } from 'maplibre-gl'
import { pulseLayer } from './fleetStyle'

/** Milliseconds between two pictures, and for one beat. */
const every = 100
const beat = 1_400

export class Pulse {
  #timer = 0
  readonly #isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches

  constructor(private readonly map: Map) {}

  /** Beats while there is something to show. */
  run(on: boolean): void {
    if (!on) this.stop()
    else if (!this.#isCalm) this.#timer ||= window.setInterval(() => this.#step(), every)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = 0
  }

  #step(): void {
    if (document.hidden || !this.map.getLayer(pulseLayer)) return
    const share = (performance.now() % beat) / beat
    this.map.setPaintProperty(pulseLayer, 'circle-radius', 16 + 18 * share)
    this.map.setPaintProperty(pulseLayer, 'circle-opacity', 0.4 * (1 - share))
    this.map.setPaintProperty(pulseLayer, 'circle-stroke-opacity', 1 - share)
  }
}
