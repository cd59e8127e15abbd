// The live map: a device is drawn at its position and moves as it reports, and a lost connection is shown and restored.
import assert from 'node:assert/strict'
import { middleOf, pixelsOf, until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'

const { test } = suite()
const green = '#14824a'

test('a device is drawn in the colour of its state and moves as it reports', async ({ page, api, server }) => {
  const device = await api.device('Northern Star')
  const earlier = new Date(Date.now() - 6 * 3_600_000).toISOString()
  await api.locate(device.id, 42.24, -8.72, { speed: 0, dateTime: earlier })
  await page.goto(`${server.url}/devices/${device.id}`)
  const middle = await middleOf(page)
  await until('the device is in the middle', () => pixelsOf(page, middle, green))
  await api.locate(device.id, 43.24, -10.72, { speed: 0 })
  await until('the device left', async () => (await pixelsOf(page, middle, green)) === 0)
  const row = page.getByRole('listitem').filter({ hasText: 'Northern Star' })
  await row.getByRole('link').click()
})

test('a new device and its first location appear without loading the page', async ({ page, api }) => {
  await page.getByRole('searchbox').waitFor()
  const device = await api.device('Late comer')
  const row = page.getByRole('listitem').filter({ hasText: 'Late comer' })
  await row.getByText('Never reported').first().waitFor()
  await api.locate(device.id, 1, 1, { speed: 33 })
  await row.getByText('33 km/h').waitFor()
})

test(
  'a lost connection is shown, and locations of the meantime arrive after reconnecting',
  async ({ page, api, server }) => {
    const device = await api.device('Traveller')
    await api.locate(device.id, 5, 5, { speed: 11 })
    await page.goto(`${server.url}/devices/${device.id}`)
    const row = page.getByRole('listitem').filter({ hasText: 'Traveller' })
    await row.getByText('11 km/h').waitFor()
    // Only a map that is drawn has all its scripts: killed before, the server would leave a page without a map.
    const middle = await middleOf(page)
    await until('the device is drawn', () => pixelsOf(page, middle, green))
    await server.halt('SIGKILL')
    await page.getByText('Connection lost').waitFor()
    await server.start()
    // The page has not reconnected yet: it receives this location only by resuming the stream where it stopped.
    await api.locate(device.id, 5.0001, 5, { speed: 22 })
    await row.getByText('22 km/h').waitFor({ timeout: 40_000 })
    await page.getByText('Connection lost').waitFor({ state: 'detached' })
  },
  { expected: [/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/] }
)

/** In seconds; longer than the silence after which a page reconnects. PERIGEE_QUIET_S=180 watches for three minutes. */
const quiet = Number(process.env.PERIGEE_QUIET_S ?? 12)

test(
  'a quiet account stays connected',
  async ({ page }) => {
    await page.getByRole('searchbox').waitFor()
    const lost = page.getByText('Connection lost').waitFor({ timeout: quiet * 1_000 })
    await assert.rejects(lost, { name: 'TimeoutError' }, 'nothing was lost')
  },
  { timeout: (quiet + 60) * 1_000 }
)

// This test does not check the bound of ten seconds, because a busy machine delays the timers of a browser:
// web/tests/live/stream.test.ts checks it with a simulated clock.
test('a server that hangs is noticed', async ({ page, server }) => {
  // Frozen while the page loads, it would be a page that does not load.
  const stream = page.waitForResponse((response) => response.url().includes('/api/stream'))
  await page.reload()
  await stream
  server.freeze()
  try {
    await page.getByText('Connection lost').waitFor({ timeout: 40_000 })
  } finally {
    server.resume()
  }
  await page.getByText('Connection lost').waitFor({ state: 'detached', timeout: 40_000 })
})

test('the browser going offline and back loses nothing', async ({ page, api, context }) => {
  const device = await api.device('Diver')
  await api.locate(device.id, 7, 7, { speed: 12 })
  const row = page.getByRole('listitem').filter({ hasText: 'Diver' })
  await row.getByText('12 km/h').waitFor()
  await context.setOffline(true)
  await page.getByText('Connection lost').waitFor()
  await api.locate(device.id, 7.0001, 7, { speed: 44 })
  await context.setOffline(false)
  await row.getByText('44 km/h').waitFor()
}, { expected: [/ERR_INTERNET_DISCONNECTED/] })

test('search and group filter the list', async ({ page, api }) => {
  const boat = await api.device('Boat of the north')
  await api.device('Truck of the south')
  await api.post('/api/groups', { name: 'Boats', devices: [boat.id] })
  const rows = page.getByRole('list', { name: 'Devices' }).getByRole('listitem')
  await page.getByRole('searchbox').fill('of the')
  await until('both are found', async () => (await rows.count()) === 2)
  await page.getByLabel('Group', { exact: true }).selectOption('Boats')
  await until('only the boat is left', async () => (await rows.count()) === 1)
  assert.match(await rows.first().innerText(), /Boat of the north/)
})
