// Without the bundled map: the world map inside the program is drawn at every zoom, and no tile is requested.
import assert from 'node:assert/strict'
import { middleOf, pixelsOf, until } from '../../lib/pixels.mjs'
import { suite } from '../../lib/suite.mjs'

const { test } = suite()

test('the world is drawn without tiles', async ({ page, api, server }) => {
  const asked = []
  page.on('request', (request) => {
    if (request.url().includes('/api/map/bundled/')) asked.push(request.url())
  })
  // The response of a server that has no folder with the map.
  await page.route('**/api/console', async (route) => {
    const response = await route.fetch()
    const facts = await response.json()
    await route.fulfill({ response, json: { ...facts, map: { ...facts.map, bundled: false } } })
  })
  const device = await api.device('Off Vigo')
  await api.locate(device.id, 42.24, -8.9)
  await page.goto(`${server.url}/devices/${device.id}`)
  const around = await middleOf(page, 400)
  await until('land and sea are drawn', async () => {
    return (await pixelsOf(page, around, '#f4f3ee', 6)) > 5_000 && (await pixelsOf(page, around, '#c9deed', 6)) > 5_000
  })
  assert.deepEqual(asked, [])
})
