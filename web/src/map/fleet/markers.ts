// The icons of devices on the map, as signed distance fields so that one serves every colour and size.
import type { Map } from 'maplibre-gl'

const sizePx = 64

function draw(shape: (context: CanvasRenderingContext2D) => void): ImageData {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = sizePx
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (!context) return new ImageData(sizePx, sizePx)
  context.translate(sizePx / 2, sizePx / 2)
  shape(context)
  return context.getImageData(0, 0, sizePx, sizePx)
}

const moving = (): ImageData =>
  draw((context) => {
    context.beginPath()
    context.moveTo(0, -27)
    context.lineTo(19, 22)
    context.lineTo(0, 12)
    context.lineTo(-19, 22)
    context.closePath()
    context.lineJoin = 'round'
    context.lineWidth = 5
    context.stroke()
    context.fill()
  })

const still = (): ImageData =>
  draw((context) => {
    context.beginPath()
    context.arc(0, 0, 17, 0, 2 * Math.PI)
    context.fill()
  })

/** Adds the pictures `moving` and `still` to the map. */
export function addMarkers(map: Map): void {
  for (const [name, image] of [
    ['moving', moving()],
    ['still', still()]
  ] as const) {
    if (!map.hasImage(name)) map.addImage(name, image, { sdf: true, pixelRatio: 2 })
  }
}
