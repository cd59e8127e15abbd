// A first visit transfers at most 800 KB, not counting the shapes of the map.
import assert from 'node:assert/strict'
import { suite } from '../lib/suite.mjs'

const { test } = suite()
const maxBytes = 800_000

test('the first load is small', async ({ page, context, api, server, browser }) => {
  const device = await api.device('Light load')
  await api.locate(device.id, 42.24, -8.72)
  const visitor = await browser.newContext({ storageState: await context.storageState() })
  const opened = await visitor.newPage()
  const sizes = new Map()
  const measured = []
  const measure = (request) => {
    const path = request.url().replace(server.url, '')
    // Shapes of the map: the tiles, and the files with the shapes of the world below zoom 5.
    if (['/api/map/bundled/world.pmtiles', '/basemap/land.json', '/basemap/world.json'].includes(path)) return
    // Pictures that the page has drawn itself are not transferred.
    if (/^(blob|data):/.test(path)) return
    measured.push(
      request.sizes().then(({ responseBodySize, responseHeadersSize }) => sizes.set(path, responseBodySize + responseHeadersSize))
    )
  }
  visitor.on('requestfinished', measure)
  await opened.goto(server.url)
  await opened.getByRole('listitem').filter({ hasText: 'Light load' }).waitFor()
  await opened.locator('.maplibregl-canvas').waitFor()
  await opened.getByRole('button', { name: 'Show all' }).waitFor()
  // A request that finishes from here on could not be measured before the browser closes.
  visitor.off('requestfinished', measure)
  await Promise.all(measured)
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  const largest = [...sizes].sort((a, b) => b[1] - a[1]).slice(0, 12)
  console.log(`# first load: ${Math.round(total / 1000)} KB in ${sizes.size} requests`)
  for (const [path, size] of largest) console.log(`#   ${Math.round(size / 1000)} KB ${path}`)
  await visitor.close()
  assert.ok([...sizes.keys()].some((path) => /worker/.test(path)), 'the worker of the map is counted')
  assert.ok(total <= maxBytes, `${Math.round(total / 1000)} KB`)
  await page.close()
})
