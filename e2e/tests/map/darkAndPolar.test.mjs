// The dark map, whose land and sea differ in colour, and devices near the poles on the globe.
import assert from 'node:assert/strict'
import { middleOf, pixelsOf, until } from '../../lib/pixels.mjs'
import { suite } from '../../lib/suite.mjs'

const { test } = suite()

test('land and sea differ in colour on the dark map', async ({ page, api, server }) => {
  const device = await api.device('Off Vigo')
  await api.locate(device.id, 42.2, -8.9)
  await page.goto(`${server.url}/devices/${device.id}`)
  const around = await middleOf(page, 400)
  await until('both are drawn', async () => {
    return (await pixelsOf(page, around, '#313f4c', 6)) > 5_000 && (await pixelsOf(page, around, '#08131d', 6)) > 5_000
  })
}, { colorScheme: 'dark' })

test('devices on both sides of a pole are close together on the globe', async ({ page, api, server }) => {
  const ids = {}
  for (const [name, latitude, longitude] of [
    ['Drift east', 89.5, 0],
    ['Drift west', 89.5, 180],
    ['Ice shelf', -88, 90]
  ]) {
    const device = await api.device(name)
    await api.locate(device.id, latitude, longitude)
    ids[name] = device.id
  }
  await page.goto(server.url)
  await page.getByText('3 devices are beyond 85°: the flat map shows them at its edge.').waitFor()
  await page.getByRole('button', { name: 'Show the globe' }).click()
  const [east, west] = [page.getByRole('button', { name: 'Drift east' }), page.getByRole('button', { name: 'Drift west' })]
  await until('the two of the north pole are less than a degree apart', async () => {
    const [one, other] = [await east.boundingBox(), await west.boundingBox()]
    return one && other && Math.hypot(one.x + one.width / 2 - other.x - other.width / 2, one.y - other.y) < 12
  })
  // Their names lie over each other: the keyboard reaches both.
  await west.focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/devices\/dev_/)
  assert.ok(page.url().endsWith(ids['Drift west']), page.url())
})
