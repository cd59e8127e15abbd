// What a first visit transfers before the shapes of the map: at most 800 KB.
import assert from 'node:assert/strict'
import { suite } from '../lib/suite.mjs'

const { test } = suite()
const most = 800_000

test('the first load is small', async ({ page, context, api, server, browser }) => {
  const device = await api.device('Light load')
  await api.locate(device.id, 42.24, -8.72)
  const visitor = await browser.newContext({ storageState: await context.storageState() })
  const opened = await visitor.newPage()
  const sizes = new Map()
  const known = []
  visitor.on('requestfinished', (request) => {
    const path = request.url().replace(server.url, '')
    // Shapes of the map: tiles, and the file that has the world's below zoom 5.
    if (path === '/api/map/bundled/world.pmtiles' || path === '/basemap/world.json') return
    // Pictures that the page has drawn itself are not transferred.
    if (/^(blob|data):/.test(path)) return
    known.push(
      request.sizes().then(({ responseBodySize, responseHeadersSize }) => sizes.set(path, responseBodySize + responseHeadersSize))
    )
  })
  await opened.goto(server.url)
  await opened.getByRole('listitem').filter({ hasText: 'Light load' }).waitFor()
  await opened.locator('.maplibregl-canvas').waitFor()
  await opened.getByRole('button', { name: 'Show all' }).waitFor()
  await Promise.all(known)
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  const largest = [...sizes].sort((a, b) => b[1] - a[1]).slice(0, 12)
  console.log(`# first load: ${Math.round(total / 1000)} KB in ${sizes.size} requests`)
  for (const [path, size] of largest) console.log(`#   ${Math.round(size / 1000)} KB ${path}`)
  await visitor.close()
  assert.ok([...sizes.keys()].some((path) => /worker/.test(path)), 'the worker of the map is counted')
  assert.ok(total <= most, `${Math.round(total / 1000)} KB`)
  await page.close()
})
