// Wherever the console shows a position, it also shows the server's description in words, in the reader's language.
import assert from 'node:assert/strict'
import { suite } from '../../lib/suite.mjs'

const { test } = suite()
const words = '22 km SW of Vigo, Spain'

test('the panel, the table and the alerts show the place in words', async ({ page, api, server }) => {
  const requests = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname === '/api/places') requests.push(searchParams.get('at').split(';').length)
    assert.ok(!pathname.endsWith('places.bin'), 'the gazetteer is fetched for the search alone')
  })
  const boat = await api.device('Boat')
  await api.locate(boat.id, 42.09, -8.9)
  await api.post(`/api/devices/${boat.id}/alerts`, {
    dateTime: new Date().toISOString(),
    alertName: 'LowBattery',
    latitude: 42.09,
    longitude: -8.9
  })
  await page.goto(`${server.url}/devices/${boat.id}`)
  await page.getByText(words).first().waitFor()
  await page.goto(`${server.url}/devices`)
  await page.getByText(words).first().waitFor()
  await page.goto(`${server.url}/alerts`)
  await page.getByText(words).first().waitFor()
  assert.ok(requests.length > 0 && requests.length <= 6, `${requests}`)
})

test('a table requests many places at once', async ({ page, api, server }) => {
  const requests = []
  for (let index = 0; index < 12; index++) {
    const device = await api.device(`Row ${index}`)
    await api.locate(device.id, 40 + index / 3, -4)
  }
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/places') requests.push(request.url())
  })
  await page.goto(`${server.url}/devices`)
  await page.getByText('Spain').nth(5).waitFor()
  assert.ok(requests.length <= 3, `${requests.length}`)
})

test('a share page shows the place in words', async ({ page, api, server }) => {
  const boat = await api.device('Shared boat')
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const { url } = await api.post('/api/shares', { deviceId: boat.id, until })
  await api.locate(boat.id, 42.09, -8.9)
  await page.goto(`${server.url}/shared/${url.split('/').pop()}`)
  await page.getByText('22 km al SO de Vigo, España').waitFor()
}, { signedIn: false, locale: 'es-ES' })
