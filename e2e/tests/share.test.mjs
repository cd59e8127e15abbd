// The page of a share link, opened by somebody without an account: it shows and follows what was shared and nothing
// else, and ends when the link expires or is revoked.
import assert from 'node:assert/strict'
import { pixelsOf, until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'

const { test } = suite()
const green = '#14824a'
const inSeconds = (seconds) => new Date(Date.now() + seconds * 1_000).toISOString()
const stranger = { signedIn: false, expected: [/status of 404/, /status of 410/] }

/** The calls of the API that a page makes. */
function callsOf(context) {
  const calls = new Set()
  context.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/api/')) calls.add(pathname)
  })
  return calls
}

test('a link shows the device, follows it, and ends when it is revoked', async ({ page, context, api, server }) => {
  const calls = callsOf(context)
  const shared = await api.device('For everybody')
  const secret = await api.device('For nobody')
  const link = await api.post('/api/shares', { deviceId: shared.id, name: 'Delivery to Vigo', until: inSeconds(3600) })
  await api.locate(shared.id, 42.24, -8.72, { speed: 0 })
  await api.locate(secret.id, 42.25, -8.72, { speed: 77 })
  await page.goto(link.page)
  await page.getByRole('heading', { name: 'Delivery to Vigo' }).waitFor()
  const row = page.getByRole('button', { name: /For everybody/ })
  await row.waitFor()
  // The list lies over the left of the map and has dots of its own.
  const { x, y, width, height } = await page.getByRole('region', { name: 'Shared devices on the map' }).boundingBox()
  const beside = { x: x + 400, y, width: width - 400, height }
  await until('the dot is drawn', () => pixelsOf(page, beside, green))
  await api.locate(shared.id, 42.2401, -8.7201, { speed: 13 })
  await row.getByText('13 km/h').waitFor()

  const shown = await page.locator('body').innerText()
  assert.doesNotMatch(shown, /For nobody|77 km/)
  assert.deepEqual(await context.cookies(), [])
  assert.equal(await page.getByRole('navigation', { name: 'Main navigation' }).count(), 0)
  const asked = [...calls].filter((path) => path !== '/api/console' && !path.startsWith('/api/map/bundled/'))
  assert.deepEqual(asked, [new URL(link.url).pathname])
  // The data that the page loads contains only the name and the position.
  const body = await (await fetch(link.url)).text()
  for (const hidden of [shared.id, secret.id, 'For nobody', server.owner.email]) assert.ok(!body.includes(hidden), hidden)

  await api.delete(`/api/shares/${link.id}`)
  await page.getByRole('heading', { name: 'This link was revoked' }).waitFor()
  assert.doesNotMatch(await page.locator('body').innerText(), /For everybody/)
}, stranger)

test('an embedded link has one line below the map', async ({ page, api }) => {
  const device = await api.device('Embedded')
  const link = await api.post('/api/shares', { deviceId: device.id, name: 'Live', until: inSeconds(3600) })
  await api.locate(device.id, 42.24, -8.72, { speed: 0 })
  await page.setViewportSize({ width: 480, height: 320 })
  await page.goto(`${link.page}?embed`)
  const line = page.getByRole('region', { name: 'Live', exact: true })
  await line.getByText('ago').or(line.getByText('now')).first().waitFor()
  const whole = line.getByRole('link', { name: 'Open the whole page' })
  assert.equal(await whole.getAttribute('href'), link.page)
  const { height } = await line.boundingBox()
  assert.ok(height < 64, `${height} pixels`)
  assert.equal(await page.getByText('What is this?').count(), 0)
}, stranger)

test('a link ends when it expires', async ({ page, api }) => {
  const device = await api.device('Short visit')
  const link = await api.post('/api/shares', { deviceId: device.id, until: inSeconds(8) })
  await api.locate(device.id, 1, 1)
  await page.goto(link.page)
  await page.getByRole('button', { name: /Short visit/ }).waitFor()
  await page.getByRole('heading', { name: 'This link has expired' }).waitFor()
}, stranger)

test('an unknown link shows nothing', async ({ page, server }) => {
  await page.goto(`${server.url}/shared/${'x'.repeat(32)}`)
  await page.getByRole('heading', { name: 'This link is not available' }).waitFor()
}, stranger)

test('a hidden page sends no requests', async ({ page, context, api }) => {
  const device = await api.device('Unseen')
  const link = await api.post('/api/shares', { deviceId: device.id, until: inSeconds(3600) })
  await page.clock.install()
  await page.goto(link.page)
  await page.getByRole('button', { name: /Unseen/ }).waitFor()
  let asked = 0
  context.on('request', (request) => (asked += request.url().startsWith(link.url) ? 1 : 0))
  const hide = (hidden) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => value })
      document.dispatchEvent(new Event('visibilitychange'))
    }, hidden)
  await hide(true)
  // A request may have been due already.
  await page.clock.runFor(6_000)
  asked = 0
  await page.clock.runFor(60_000)
  assert.equal(asked, 0)
  await hide(false)
  await until('the page asks again when it is visible', () => asked)
}, stranger)
