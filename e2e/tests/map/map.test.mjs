// The map: clusters that come apart, the picked device above them, places, the bundled coast, and the poles.
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { middleOf, pixelsOf, until } from '../../lib/pixels.mjs'
import { suite } from '../../lib/suite.mjs'

const { test } = suite()
const pictures = new URL('../../../target/e2e/', import.meta.url)
await mkdir(pictures, { recursive: true })
const ring = '#0b5cc9'
const green = '#14824a'
/** The colour of a device on land that does not match the search. */
const faintGreen = '#b1d1bd'
const land = '#f4f3ee'
const sea = '#c9deed'

/** Creates devices at one spot and deletes all others. */
async function moored(api, count) {
  const { devices: others } = await api.get('/api/devices')
  for (const { id } of others) await api.delete(`/api/devices/${id}`)
  const devices = []
  for (let index = 0; index < count; index++) {
    const device = await api.device(`Moored ${index}`, { icon: 'sail' })
    await api.locate(device.id, 41.15, -8.67)
    devices.push(device)
  }
  return devices
}

const find = (page) => page.getByRole('combobox', { name: 'Find a place' })

test('the picked device is ringed and not in the cluster at its spot', async ({ page, api, server }) => {
  const [first] = await moored(api, 4)
  await page.goto(`${server.url}/devices/${first.id}`)
  const middle = await middleOf(page)
  await until('it is ringed', () => pixelsOf(page, middle, ring))
  await until('it has the colour of its state', () => pixelsOf(page, middle, green))

  // A search that matches nothing leaves all devices on the map: the picked one as it is, the others faint.
  const other = await api.device('Neighbour')
  await api.locate(other.id, 41.15, -8.37)
  const beside = { x: middle.x + 110, y: middle.y, width: 60, height: 60 }
  await until('the other is drawn', () => pixelsOf(page, beside, green))
  await page.getByRole('searchbox', { name: 'Search devices' }).fill('no such name')
  await until('the other is faint', async () => (await pixelsOf(page, beside, green)) === 0)
  assert.ok(await pixelsOf(page, beside, faintGreen, 12), 'the other is still there')
  assert.ok(await pixelsOf(page, middle, ring), 'the picked device is still ringed')
})

test('devices of one spot come apart by a click and can be picked', async ({ page, api, server }) => {
  const devices = await moored(api, 3)
  await page.goto(server.url)
  const box = await middleOf(page, 2)
  const [x, y] = [box.x + 1, box.y + 1]
  const around = { x: x - 40, y: y - 60, width: 80, height: 40 }
  await until('the cluster is there', () => pixelsOf(page, { x: x - 30, y: y - 30, width: 60, height: 60 }, green))
  await page.mouse.click(x, y)
  await until('they are apart', () => pixelsOf(page, around, green))
  // The first of three stands straight above the spot.
  await page.mouse.click(x, y - 44)
  await page.waitForURL(/\/devices\/dev_/)
  assert.ok(devices.some(({ id }) => page.url().endsWith(id)))
})

test('clusters can be switched off', async ({ page, api, server }) => {
  await moored(api, 3)
  await page.goto(server.url)
  await page.getByRole('button', { name: 'Map layers' }).click()
  const box = page.getByRole('checkbox', { name: 'Group nearby devices' })
  await box.uncheck()
  await page.reload()
  await page.getByRole('button', { name: 'Map layers' }).click()
  assert.equal(await box.isChecked(), false)
  await box.check()
})

test('a place is found and its coast and town are drawn', async ({ page, api, server }) => {
  await api.device('Anything')
  const parts = []
  page.on('response', (response) => {
    if (response.url().endsWith('/api/map/bundled/world.pmtiles')) parts.push(response.status())
  })
  await page.goto(server.url)
  await find(page).fill('vigo')
  await page.getByRole('option', { name: /Vigo, Spain/ }).waitFor()
  await page.keyboard.press('Enter')
  const around = await middleOf(page, 400)
  await until('land and sea are drawn', async () => {
    return parts.length > 0 && (await pixelsOf(page, around, land, 6)) > 20_000 && (await pixelsOf(page, around, sea, 6)) > 5_000
  })
  assert.ok(parts.every((status) => status === 206))
  await find(page).fill('41.38, 2.15')
  await page.getByRole('option', { name: '41.38000, 2.15000' }).click()
})

for (const [name, option] of Object.entries({
  Vigo: /Vigo, Spain/,
  Barcelona: /Barcelona, Spain/,
  Tromsø: /Tromsø, Norway/,
  Suva: /Suva, Fiji/
})) {
  test(`coast and towns of ${name} at zoom 10`, async ({ page, api, server }) => {
    await api.device('Anything')
    const parts = []
    page.on('response', (response) => {
      if (response.url().endsWith('/api/map/bundled/world.pmtiles')) parts.push(response.status())
    })
    await page.goto(server.url)
    await find(page).fill(name)
    await page.getByRole('option', { name: option }).first().click()
    const around = await middleOf(page, 400)
    let before
    await until('the map is drawn', async () => {
      const now = (await page.screenshot({ clip: around })).toString('base64')
      const isStill = now === before && parts.length > 0
      before = now
      return isStill && (await pixelsOf(page, around, land, 6)) > 10_000 && (await pixelsOf(page, around, sea, 6)) > 5_000
    }, { every: 400 })
    assert.ok(parts.every((status) => status === 206))
    await page.screenshot({ path: new URL(`coast-${name}.png`, pictures).pathname })
  }, { reducedMotion: 'reduce' })
}

test('a device beyond 85 degrees causes a notice and is shown on the globe', async ({ page, api, server }) => {
  const device = await api.device('Ice drift')
  await api.locate(device.id, 89.2, 40)
  const notice = page.getByText('1 device is beyond 85°: the flat map shows it at its edge.')
  await page.goto(server.url)
  await notice.waitFor()
  await page.getByRole('button', { name: 'Show the globe' }).click()
  await page.getByRole('button', { name: 'Ice drift' }).waitFor()
  await page.getByRole('button', { name: 'Map layers' }).click()
  await page.getByRole('radio', { name: 'Flat map' }).check()
  await notice.waitFor()
  // The notice disappears when the edge of the flat map is out of view.
  await find(page).fill('42.24, -8.72')
  await page.getByRole('option', { name: '42.24000, -8.72000' }).click()
  await notice.waitFor({ state: 'detached' })
})
