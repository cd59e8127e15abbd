// What the screen shows is so: parts of the map that are not loaded do not look like sea, old values look old, and an SOS
// looks like one on every map.
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { middleOf, pixelsOf, until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'

const { test } = suite()
const pictures = new URL('../../target/e2e/', import.meta.url)
await mkdir(pictures, { recursive: true })
const [land, sea, unknown] = ['#f4f3ee', '#c9deed', '#d9d9d9']
const minutesAgo = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString()

/** Holds the answers to some requests until the returned function is called. */
async function hold(page, pattern) {
  let release
  const released = new Promise((resolve) => (release = resolve))
  await page.route(pattern, async (route) => {
    await released
    await route.continue()
  })
  return release
}

// First, while there is no device: the map shows the world, and not the land around a device.
test('land and sea are there within 100 KB of the map', async ({ page, server }) => {
  const release = await hold(page, /world\.(json|pmtiles)/)
  let bytes = 0
  page.on('requestfinished', async (request) => {
    if (request.url().includes('/basemap/')) bytes += (await request.sizes()).responseBodySize
  })
  await page.goto(`${server.url}/places`)
  await until('both are drawn', async () => {
    // Each time: the page is laid out while it loads.
    const around = await page.locator('.maplibregl-canvas').boundingBox()
    return (await pixelsOf(page, around, land, 4)) > 2_000 && (await pixelsOf(page, around, sea, 4)) > 2_000
  })
  assert.ok(bytes > 0 && bytes < 100_000, `${bytes} bytes`)
  await page.screenshot({ path: new URL('map-outlines.png', pictures).pathname })
  release()
})

test('what is not loaded is neither land nor sea, and a hint says so', async ({ page, api, server }) => {
  const device = await api.device('Van in Lyon')
  await api.locate(device.id, 45.76, 4.84)
  const release = await hold(page, '**/world.pmtiles')
  await page.goto(`${server.url}/devices/${device.id}`)
  const hint = page.getByText('Loading the map…')
  await hint.waitFor()
  const around = await middleOf(page, 300)
  await until('it is grey', async () => (await pixelsOf(page, around, unknown, 4)) > 50_000)
  assert.equal(await pixelsOf(page, around, sea, 4), 0)
  await page.screenshot({ path: new URL('map-loading.png', pictures).pathname })
  release()
  await until('the land is there', async () => (await pixelsOf(page, around, land, 4)) > 50_000)
  await hint.waitFor({ state: 'hidden' })
})

test('the speed of a position of 47 minutes ago is shown as old', async ({ page, api, server }) => {
  const old = await api.device('Silent van', { expectedIntervalSeconds: 1800 })
  await api.locate(old.id, 45.7, 4.8, { speed: 108, course: 90, dateTime: minutesAgo(47) })
  const recent = await api.device('Talking van', { expectedIntervalSeconds: 1800 })
  await api.locate(recent.id, 45.8, 4.9, { speed: 54, course: 90, dateTime: minutesAgo(20) })
  await page.goto(`${server.url}/devices/${old.id}`)
  const rowOf = (name) => page.getByRole('listitem').filter({ hasText: name })
  await rowOf('Silent van').getByText('108 km/h, 47 min ago').waitFor()
  await rowOf('Talking van').getByText(/^54 km\/h(?!,)/).waitFor()
  assert.equal(await page.getByText('108 km/h', { exact: true }).count(), 0, 'nowhere without its age')
  await page.getByRole('term').filter({ hasText: 'Speed' }).waitFor()
  await page.screenshot({ path: new URL('old-speed.png', pictures).pathname })
  await page.goto(`${server.url}/devices`)
  await page.getByRole('cell', { name: '108 km/h, 47 min ago' }).waitFor()
  await page.getByRole('cell', { name: '54 km/h', exact: true }).waitFor()
})

test('an SOS looks like one on the map of geofences, and its latest position comes first', async ({ page, api, server }) => {
  const device = await api.device('Dinghy')
  await api.locate(device.id, 42.1, -8.9, { dateTime: minutesAgo(6) })
  const at = { dateTime: minutesAgo(5), latitude: 42.1, longitude: -8.9 }
  const { ids: [id] } = await api.post(`/api/devices/${device.id}/alerts`, { alertName: 'SOSButton', ...at })
  await api.locate(device.id, 42.2, -9.1)
  await page.goto(`${server.url}/places`)
  await page.locator('.sos-marker').waitFor()
  await page.screenshot({ path: new URL('sos-geofences.png', pictures).pathname })

  await page.goto(`${server.url}/alerts/${id}`)
  const copies = page.getByRole('button', { name: /^Copy: / })
  await until('both positions can be copied', async () => (await copies.count()) === 4)
  const labels = await copies.evaluateAll((buttons) => buttons.map((button) => button.ariaLabel ?? button.title))
  assert.match(labels[0], /^Copy: Latest position, /)
  assert.match(labels[2], /^Copy: Position at the alert, /)
  assert.match(await page.getByRole('group', { name: 'Latest position, Decimal degrees' }).innerText(), /^42\.2\S* /)
  assert.match(await page.getByRole('group', { name: 'Position at the alert, Decimal degrees' }).innerText(), /^42\.1\S* /)
  await page.screenshot({ path: new URL('sos-positions.png', pictures).pathname })
  await api.post(`/api/alerts/${id}/end`)
})
