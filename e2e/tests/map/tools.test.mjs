// Import, bulk changes and saved views of devices, the track of a share link, and the console without a connection.
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { phone } from '../../lib/browser.mjs'
import { serious } from '../../lib/page.mjs'
import { until } from '../../lib/pixels.mjs'
import { suite } from '../../lib/suite.mjs'

const { test } = suite()
const pictures = new URL('../../../target/e2e/', import.meta.url)
await mkdir(pictures, { recursive: true })
const picture = (page, name) => page.screenshot({ path: new URL(`${name}.png`, pictures).pathname })

test('devices are imported from a file, changed together and found again in a view', async ({ page, api, server }) => {
  await api.post('/api/groups', { name: 'Trawlers' })
  await page.goto(`${server.url}/devices`)
  await page.getByRole('button', { name: 'Import devices' }).click()
  const dialog = page.getByRole('dialog')
  const lines = ['Nombre;IMEI;Grupos', ...Array.from({ length: 30 }, (_, at) => `Boat ${at + 1};30023406390${1000 + at};`), 'No group;1;Nobody', ';2;']
  await dialog.getByLabel('Or paste the lines').fill(lines.join('\n'))
  await dialog.getByText('2 lines are skipped').waitFor()
  await dialog.getByText('there is no group “Nobody”').waitFor()
  await dialog.getByRole('button', { name: 'Check' }).click()
  await dialog.getByText('30 new, 0 exist already.').waitFor()
  await picture(page, 'import')
  assert.deepEqual(await serious(page), [])
  await dialog.getByRole('button', { name: 'Add 30 devices' }).click()
  await page.getByText('30 devices were added.').waitFor()

  await page.getByRole('searchbox').fill('Boat 1')
  await page.getByLabel('Select all devices in this list').check()
  await page.getByText('11 selected').waitFor()
  await picture(page, 'bulk')
  assert.deepEqual(await serious(page), [])
  await page.getByRole('toolbar', { name: 'Selected devices' }).getByRole('button', { name: 'Edit' }).click()
  await dialog.getByRole('button', { name: 'Apply to all' }).click()
  await page.getByText('11 devices were changed.').waitFor()
  await until('the group has them', async () => (await api.get('/api/groups')).groups[0].devices.length === 11)

  await page.getByRole('button', { name: 'Save this view' }).click()
  await dialog.getByLabel('Name').fill('Ones')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('searchbox').fill('')
  await page.getByText('30 devices').first().waitFor()
  await page.getByLabel('Saved views').selectOption('Ones')
  await page.getByText('11 devices', { exact: true }).waitFor()

  await page.getByRole('searchbox').fill('Boat 30')
  await page.getByLabel('Select Boat 30').click()
  await page.getByRole('button', { name: 'Clear the selection' }).click()
  await page.getByLabel('Select Boat 30').click()
  await page.getByRole('toolbar', { name: 'Selected devices' }).getByRole('button', { name: 'Delete' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('1 device was deleted.').waitFor()
  assert.equal((await api.get('/api/devices')).devices.length, 29)
})

test('a share link shows the track from the chosen time on, with a QR code and HTML to embed', async ({ page, api, browser, server }) => {
  const device = await api.device('Regatta 5')
  const at = (hours) => new Date(Date.now() - hours * 3_600_000).toISOString()
  await api.post(`/api/devices/${device.id}/locations`, [
    { dateTime: at(50), latitude: 40, longitude: -10 },
    { dateTime: at(20), latitude: 41, longitude: -10 },
    { dateTime: at(1), latitude: 42, longitude: -10 }
  ])
  await page.goto(`${server.url}/devices/${device.id}`)
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Show the track').selectOption('day')
  await dialog.getByRole('button', { name: 'Create link' }).click()
  const link = await dialog.getByRole('textbox', { name: 'Link' }).inputValue()
  await dialog.getByRole('button', { name: 'QR code and embedding' }).first().click()
  await dialog.getByRole('img', { name: 'QR code of the link' }).waitFor()
  const html = await dialog.getByRole('group', { name: 'HTML to embed' }).locator('pre').textContent()
  assert.ok(html.includes(`<iframe src="${link}?embed"`))
  await picture(page, 'share')
  assert.deepEqual(await serious(page), [])
  const secret = link.split('/').at(-1)
  const view = await (await fetch(`${server.url}/api/shared/${secret}?trail=2000-01-01T00:00:00Z`)).json()
  assert.deepEqual(view.devices[0].trail.map(({ latitude }) => latitude), [41, 42])
  const policy = (await fetch(link)).headers
  assert.match(policy.get('content-security-policy'), /frame-ancestors \*$/)
  assert.equal(policy.get('x-frame-options'), null)
  const stranger = await browser.newContext({ viewport: phone, hasTouch: true, locale: 'en' })
  const opened = await stranger.newPage()
  await opened.goto(link)
  await opened.getByText('Regatta 5').first().waitFor()
  await stranger.close()
})

test('the console opens without a connection and continues when the connection is back', async ({ page, context, server }) => {
  await page.goto(`${server.url}/devices`)
  await page.evaluate(() => navigator.serviceWorker.ready)
  await page.reload()
  await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
  await context.setOffline(true)
  await page.reload()
  await page.getByText('The server cannot be reached.').first().waitFor()
  await context.setOffline(false)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Devices', level: 1 }).waitFor()
  const kept = await page.evaluate(async () => {
    const caches = await window.caches.keys()
    const all = await Promise.all(caches.map(async (name) => (await (await window.caches.open(name)).keys()).map(({ url }) => url)))
    return all.flat()
  })
  assert.ok(kept.some((url) => url.includes('/assets/')))
  assert.deepEqual(kept.filter((url) => url.includes('/api/')), [], 'no answer of the API is kept')
}, { expected: [/ERR_INTERNET_DISCONNECTED/] })

test('on a phone the credits of the map do not cover its scale', async ({ page, api, server }) => {
  const device = await api.device('Anchored')
  await api.locate(device.id, 42.24, -8.72)
  await page.goto(server.url)
  const scale = page.locator('.maplibregl-ctrl-scale').first()
  const credits = page.locator('.maplibregl-ctrl-attrib').first()
  await scale.waitFor()
  await page.locator('.maplibregl-ctrl-attrib-inner').getByText('OpenStreetMap').first().waitFor()
  const [a, b] = [await scale.boundingBox(), await credits.boundingBox()]
  await picture(page, 'credits-phone')
  assert.ok(a.x + a.width <= b.x || a.y + a.height <= b.y || b.y + b.height <= a.y, JSON.stringify([a, b]))
}, { viewport: phone, hasTouch: true })
