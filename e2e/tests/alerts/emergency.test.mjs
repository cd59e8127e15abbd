// What a dispatcher needs in an emergency: the procedure with telephone numbers, crew and vessel, the nearest devices, a key
// that acknowledges, and repeated alerts as one. And the list beside the map on one screen, by keyboard.
import assert from 'node:assert/strict'
import { desktop, phone } from '../../lib/browser.mjs'
import { complete, overflow, serious } from '../../lib/page.mjs'
import { until } from '../../lib/pixels.mjs'
import { suite } from '../../lib/suite.mjs'

const { test } = suite()
const sos = (api, device, at = Date.now()) =>
  api.post(`/api/devices/${device.id}/alerts`, { dateTime: new Date(at).toISOString(), alertName: 'SOSButton' })
const banner = (page) => page.getByRole('region', { name: 'Critical alerts' })
const endAll = async (api) => {
  for (const stage of ['open', 'acknowledged']) {
    const { alerts } = await api.get(`/api/alerts?severity=critical&stage=${stage}`)
    for (const { id } of alerts) await api.post(`/api/alerts/${id}/end`)
  }
}

test('an SOS shows the procedure, crew and vessel, and the nearest devices with telephone', async ({ page, api, server }) => {
  await page.goto(`${server.url}/account`)
  await page.getByLabel('Emergency procedure').fill('1. Call MRCC Finisterre: +34 900 202 202\n2. Call the owner')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()

  const vessel = await api.device('Estrela', { description: 'Skipper Ana, +34 600 111 222', tags: { crew: '4', 'call sign': 'EA1234' } })
  const near = await api.device('Helper near', { tags: { phone: '+34 600 333 444' } })
  const far = await api.device('Helper far')
  await api.locate(vessel.id, 42, -9)
  await api.locate(near.id, 42.1, -9)
  await api.locate(far.id, 42, -8)
  await api.post('/api/groups', { name: 'Night fleet', description: 'Duty officer 112 345 678', devices: [vessel.id] })
  await sos(api, vessel)
  const { alerts } = await api.get('/api/alerts?stage=open&severity=critical')
  await page.goto(`${server.url}/alerts/${alerts[0].id}`)

  const detail = page.getByRole('region', { name: 'Alert details' })
  await detail.getByRole('heading', { name: 'Crew and vessel' }).waitFor()
  const numbers = () => detail.locator('a[href^="tel:"]').evaluateAll((links) => links.map(({ href }) => href))
  await until('every number can be called', async () => (await numbers()).length === 4)
  assert.deepEqual((await numbers()).sort(), ['tel:+34600111222', 'tel:+34600333444', 'tel:+34900202202', 'tel:112345678'])
  assert.match(await detail.innerText(), /EA1234/)
  const helpers = detail.getByRole('list', { name: 'Nearest devices' }).getByRole('listitem')
  const [first, second] = await helpers.allInnerTexts()
  assert.match(first, /Helper near[\s\S]*11\.1 km · 0° N/)
  assert.match(second, /Helper far[\s\S]*82\.6 km · 90° E/)

  await page.emulateMedia({ media: 'print' })
  for (const name of ['Procedure', 'Crew and vessel', 'Nearest devices']) {
    assert.ok(await detail.getByRole('heading', { name }).isVisible(), `${name} is printed`)
  }
  await page.emulateMedia({ media: 'screen' })
  assert.deepEqual(await serious(page), [])

  await page.goto(`${server.url}/devices/${vessel.id}`)
  await page.getByRole('heading', { name: 'Nearest devices' }).waitFor()
  await complete(page)
  assert.deepEqual(await serious(page), [])
  await endAll(api)
})

test('repeated alerts are one line, and a key acknowledges them after a question', async ({ page, api, server }) => {
  await endAll(api)
  const device = await api.device('Repeater')
  const begun = Date.now()
  for (let index = 0; index < 3; index++) await sos(api, device, begun - index * 60_000)
  await page.goto(`${server.url}/devices`)
  await banner(page).getByText('3 times since').waitFor()
  await banner(page).getByRole('link', { name: 'SOS · Repeater' }).waitFor()
  assert.equal(await banner(page).getByRole('link', { name: 'SOS · Repeater' }).count(), 1)

  await page.keyboard.press('k')
  const question = page.getByRole('dialog', { name: 'Acknowledge this alert?' })
  await question.getByText('SOS · Repeater').waitFor()
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'hidden' })
  assert.equal((await api.get('/api/alerts?stage=open&severity=critical')).alerts.length, 3, 'nothing without an answer')

  await page.keyboard.press('k')
  await question.waitFor()
  assert.deepEqual(await serious(page), [])
  await page.keyboard.press('Enter')
  await banner(page).getByText('acknowledged, not ended').waitFor()
  assert.equal((await api.get('/api/alerts?stage=open&severity=critical')).alerts.length, 0)
  await endAll(api)
})

test(
  'the compact list shows 22 devices on a screen, and the keys work after a search',
  async ({ page, api, server }) => {
    for (let index = 0; index < 30; index++) {
      await api.device(`Boat ${String(index).padStart(2, '0')} with a long name that has no room beside its age`, { icon: 'boat' })
    }
    await page.goto(`${server.url}/`)
    await page.getByRole('button', { name: 'Compact list' }).click()
    const rows = page.getByRole('list', { name: 'Devices' }).getByRole('listitem')
    const inView = () =>
      rows.evaluateAll((all) => {
        const box = all[0].closest('[role=list]').getBoundingClientRect()
        return all.filter((row) => row.getBoundingClientRect().top >= box.top && row.getBoundingClientRect().bottom <= box.bottom).length
      })
    await until('22 rows are in view', async () => (await inView()) >= 22)
    const wide = await rows.evaluateAll((all) => all.filter((row) => row.scrollWidth > row.clientWidth).length)
    assert.equal(wide, 0, 'no row overflows')

    await page.keyboard.press('/')
    await page.keyboard.type('Boat 07')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Boat 07/ }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await page.waitForURL(/\/history\/dev_/)
    await page.goBack()
    await page.getByRole('heading', { name: /^Boat 07/ }).waitFor()
    await page.getByRole('button', { name: 'Nearest devices' }).click()
    const tool = page.getByRole('region', { name: 'Nearest devices' })
    await tool.waitFor()
    await page.keyboard.press('Escape')
    await tool.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: /^Boat 07/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL(`${server.url}/`)
  },
  { viewport: { ...desktop, height: 900 } }
)

test('a form for a phone that is left creates nothing', async ({ page, api, server }) => {
  await page.goto(`${server.url}/sources`)
  await page.getByRole('button', { name: 'Add phone' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Whose phone is it?').fill('Nobody')
  await dialog.getByRole('button', { name: /^Next/ }).click()
  await dialog.getByRole('radio').first().waitFor()
  await page.keyboard.press('Escape')
  const { devices } = await api.get('/api/devices')
  assert.equal(devices.filter(({ name }) => name === 'Nobody').length, 0)
})

test(
  'devices are cards on a phone',
  async ({ page, api, server }) => {
    const device = await api.device('A card')
    await api.locate(device.id, 42, -9)
    await page.goto(`${server.url}/devices`)
    await page.getByRole('link', { name: 'A card' }).waitFor()
    await complete(page)
    assert.equal(await overflow(page), 0)
    const scroller = page.getByRole('region', { name: 'Devices' })
    assert.ok(await scroller.evaluate((element) => element.scrollWidth <= element.clientWidth), 'nothing to scroll sideways')
    assert.deepEqual(await serious(page), [])
  },
  { viewport: phone, hasTouch: true, isMobile: true }
)
