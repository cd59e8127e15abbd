// The pictures of devices and clusters on the map, drawn when they are first needed. The name of a picture contains
// everything that it depends on, so that equal pictures are drawn once.
import type { Map } from 'maplibre-gl'
import { deviceIcons, type DeviceIcon } from './deviceIcons'

/** Pictures are drawn this many times larger than they are shown. */
const pixelRatio = 2

export interface Surface {
  dark: boolean
  /** Around every picture, so that it stands out from the map. */
  halo: string
  /** The middle of a cluster. */
  middle: string
}

export const surfaceOf = (dark: boolean): Surface =>
  dark ? { dark, halo: '#0d1620', middle: '#1b2733' } : { dark, halo: '#ffffff', middle: '#ffffff' }

function draw(size: number, shape: (context: CanvasRenderingContext2D) => void): ImageData {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = size * pixelRatio
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (!context) return new ImageData(canvas.width, canvas.height)
  context.scale(pixelRatio, pixelRatio)
  context.translate(size / 2, size / 2)
  shape(context)
  return context.getImageData(0, 0, canvas.width, canvas.height)
}

function disc(context: CanvasRenderingContext2D, radius: number, colour: string): void {
  context.beginPath()
  context.arc(0, 0, radius, 0, 2 * Math.PI)
  context.fillStyle = colour
  context.fill()
}

/** Black or white, whichever is easier to read on a CSS colour. */
function readableOn(context: CanvasRenderingContext2D, colour: string): string {
  context.fillStyle = colour
  const known = context.fillStyle
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => parseInt(known.slice(at, at + 2), 16))
  return 0.299 * red + 0.587 * green + 0.114 * blue > 150 ? '#10181f' : '#ffffff'
}

export interface Badge {
  icon: DeviceIcon | null
  /** The colour of the device's state. */
  state: string
  /** The device's own colour. */
  own: string | null
}

/** Adds the picture of a device to the map; returns the name of the picture. */
export function addBadge(map: Map, { icon, state, own }: Badge, { halo }: Surface): string {
  const name = `badge ${icon ?? ''} ${state} ${own ?? ''} ${halo}`
  if (map.hasImage(name)) return name
  const outer = icon ? 14 : 9
  const image = draw(2 * outer + 6, (context) => {
    disc(context, outer + 2, halo)
    disc(context, outer, state)
    if (own) {
      disc(context, outer - 2.5, halo)
      disc(context, outer - 3.5, own)
    }
    if (!icon) return
    const colour = readableOn(context, own ?? state)
    context.scale(0.8, 0.8)
    context.translate(-12, -12)
    context.fillStyle = colour
    context.fill(new Path2D(deviceIcons[icon]), 'evenodd')
  })
  map.addImage(name, image, { pixelRatio })
  return name
}

/** Adds the pointer of a moving device to the map; returns its name. It points up, and the layer rotates it. */
export function addHeading(map: Map, colour: string, hasIcon: boolean, { halo }: Surface): string {
  const name = `heading ${colour} ${hasIcon} ${halo}`
  if (map.hasImage(name)) return name
  const base = hasIcon ? -15 : -10
  const image = draw(64, (context) => {
    context.beginPath()
    context.moveTo(0, base - 12)
    context.lineTo(8, base)
    context.lineTo(-8, base)
    context.closePath()
    context.lineJoin = 'round'
    context.lineWidth = 3
    context.strokeStyle = halo
    context.stroke()
    context.fillStyle = colour
    context.fill()
  })
  map.addImage(name, image, { pixelRatio })
  return name
}

/** The parts of a ring: a colour and how many of `ringParts` it takes. */
export type Ring = [colour: string, parts: number][]
export const ringParts = 24

/** Divides a ring among counts: each count above 0 gets one part, and the other parts are divided in proportion. */
export function ringOf(counts: [colour: string, count: number][]): Ring {
  const present = counts.filter(([, count]) => count > 0)
  const total = present.reduce((sum, [, count]) => sum + count, 0)
  const free = ringParts - present.length
  const exact = present.map(([, count]) => (count / total) * free)
  const parts = exact.map((share) => 1 + Math.floor(share))
  const byRest = exact.map((share, index) => ({ rest: share % 1, index })).sort((a, b) => b.rest - a.rest)
  const missing = ringParts - parts.reduce((sum, part) => sum + part, 0)
  for (const { index } of byRest.slice(0, missing)) parts[index]!++
  return present.map(([colour], index) => [colour, parts[index]!])
}

/** The diameter of the picture of a cluster, in pixels, before it is scaled. */
const donutPx = 56

/** Adds the picture of a cluster to the map: a ring of its states around a disc in the colour of its worst alert. */
export function addDonut(map: Map, ring: Ring, alarm: string | null, { halo, middle }: Surface): string {
  const name = `donut ${ring.map((part) => part.join(':')).join(' ')} ${alarm ?? ''} ${halo}`
  if (map.hasImage(name)) return name
  const image = draw(donutPx, (context) => {
    const outer = donutPx / 2 - 1
    disc(context, outer, halo)
    let from = -Math.PI / 2
    for (const [colour, parts] of ring) {
      const to = from + (2 * Math.PI * parts) / ringParts
      context.beginPath()
      context.moveTo(0, 0)
      context.arc(0, 0, outer - 2, from, to)
      context.closePath()
      context.fillStyle = colour
      context.fill()
      from = to
    }
    disc(context, outer - 9, halo)
    disc(context, outer - 10, alarm ?? middle)
  })
  map.addImage(name, image, { pixelRatio })
  return name
}
