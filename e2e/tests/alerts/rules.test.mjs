// A geofence is drawn on the map, a rule is made for it, and the alert of the rule arrives in the inbox.
import assert from 'node:assert/strict'
import { until } from '../../lib/pixels.mjs'
import { suite } from '../../lib/suite.mjs'

const { test } = suite()
const inMinutes = (minutes) => new Date(Date.now() + minutes * 60_000).toISOString()

test('a rule for a drawn geofence fires when a device enters', async ({ page, api, server }) => {
  const device = await api.device('Intruder')
  await page.goto(`${server.url}/geofences`)
  await page.getByRole('group', { name: 'New geofence' }).getByRole('button', { name: 'Circle' }).click()
  await page.getByLabel('Name').fill('Harbour')
  const map = page.getByRole('region', { name: 'Map of geofences' })
  const { x, y, width, height } = await map.boundingBox()
  const centre = { x: x + width / 2, y: y + height / 2 }
  const radius = page.getByLabel(/^Radius/)
  await until('the map takes the drawing', async () => {
    await page.mouse.click(centre.x, centre.y)
    await page.mouse.move(centre.x + 3, centre.y, { steps: 3 })
    await page.mouse.click(centre.x + 6, centre.y)
    return (await radius.count()) > 0 && Number((await radius.inputValue()).replace(/,/g, '')) > 0
  })
  await radius.fill('20000')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const fence = await until('the geofence is stored', async () => (await api.get('/api/geofences')).geofences[0])
  assert.equal(fence.properties.name, 'Harbour')

  await page.goto(`${server.url}/rules/new`)
  await page.getByLabel('Name', { exact: true }).fill('Somebody in the harbour')
  await page.getByLabel('Type', { exact: true }).selectOption({ label: 'Geofence' })
  await page.getByRole('checkbox', { name: 'Harbour' }).check()
  await page.getByText('it enters Harbour').first().waitFor()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await until('the rule is stored', async () => (await api.get('/api/rules')).rules.length === 1)

  const [longitude, latitude] = fence.geometry.coordinates
  await page.goto(`${server.url}/alerts`)
  // Two kilometres across the edge in five minutes: a jump to the centre would be flagged as implausible.
  const edge = (metres) => latitude + (fence.properties.radius + metres) / 111_195
  await api.locate(device.id, edge(1_000), longitude, { dateTime: inMinutes(1) })
  await api.locate(device.id, edge(-1_000), longitude, { dateTime: inMinutes(6) })
  const arrived = page.getByRole('listitem').filter({ hasText: 'Intruder' })
  await arrived.getByRole('link').click()
  await page.getByText('Somebody in the harbour').waitFor()
})

test('an unsaved rule is tested on past locations and stays unsaved', async ({ page, api, server }) => {
  const device = await api.device('Racer')
  const past = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString()
  const speeds = [50, 95, 97, 60, 99, 40]
  await api.post(
    `/api/devices/${device.id}/locations`,
    speeds.map((speed, index) => ({ dateTime: past(60 - index), latitude: 42 + index / 100, longitude: -8, speed }))
  )
  const before = (await api.get('/api/rules')).rules.length
  await page.goto(`${server.url}/rules/new`)
  await page.getByLabel('Type', { exact: true }).selectOption({ label: 'Speed' })
  const limit = page.getByLabel(/^Limit|km\/h/).first()
  await limit.fill('90')
  await page.getByRole('button', { name: 'Run test', exact: true }).click()
  await page.getByText('2 alerts would have been raised').waitFor()
  const found = page.getByRole('list', { name: 'Alerts that would have been raised' }).getByRole('listitem')
  await until('both are listed', async () => (await found.count()) === 2)
  assert.match(await found.first().innerText(), /Racer/)

  // Errors are shown at the field, as when the rule is saved.
  await limit.fill('')
  await page.getByRole('button', { name: 'Run test', exact: true }).click()
  await page.locator('[aria-invalid="true"]').first().waitFor()
  assert.equal((await api.get('/api/rules')).rules.length, before)
}, { expected: [/status of 400/] })

test('a geofence that was drawn elsewhere appears when the page gets the focus again', async ({ page, api, server }) => {
  await page.goto(`${server.url}/geofences`)
  await page.getByRole('heading', { name: 'Geofences' }).waitFor()
  await page.clock.install()
  await api.post('/api/geofences', {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [1, 1] },
    properties: { name: 'Drawn elsewhere', radius: 500 }
  })
  await page.clock.fastForward(10_000)
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await page.getByRole('link', { name: /Drawn elsewhere/ }).waitFor()
})
