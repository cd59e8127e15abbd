// Counts drawn pixels of a colour in a screenshot, and waits until something is drawn.

/** Number of pixels in a part of the page that have a colour such as `#14824a`, within a tolerance per channel. */
export async function pixelsOf(page, clip, colour, tolerance = 24) {
  const png = await page.screenshot({ clip })
  const wanted = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))
  return page.evaluate(
    async ({ address, wanted, tolerance }) => {
      const image = new Image()
      image.src = address
      await image.decode()
      const canvas = new OffscreenCanvas(image.width, image.height)
      const context = canvas.getContext('2d')
      context.drawImage(image, 0, 0)
      const { data } = context.getImageData(0, 0, image.width, image.height)
      let count = 0
      for (let at = 0; at < data.length; at += 4) {
        if (wanted.every((value, channel) => Math.abs(data[at + channel] - value) <= tolerance)) count++
      }
      return count
    },
    { address: `data:image/png;base64,${png.toString('base64')}`, wanted, tolerance }
  )
}

/** Calls `check` until it returns a truthy value, which becomes the result; a map takes some time to draw. */
export async function until(what, check, { within = 30_000, every = 100 } = {}) {
  const end = Date.now() + within
  let seen
  do {
    seen = await check()
    if (seen) return seen
    await new Promise((resolve) => setTimeout(resolve, every))
  } while (Date.now() < end)
  throw new Error(`${what}: still ${JSON.stringify(seen)} after ${within} ms`)
}

/** A square in the middle of the map, where the picked device is. */
export async function middleOf(page, size = 60) {
  const box = await page.getByRole('region', { name: 'Map', exact: true }).first().boundingBox()
  return { x: box.x + (box.width - size) / 2, y: box.y + (box.height - size) / 2, width: size, height: size }
}
