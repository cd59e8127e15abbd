// Daily work of dispatchers and skippers: find by keyboard, sort a table, read times and coordinates their way, open an
// incident from a link and print it.
import assert from 'node:assert/strict'
import { phone } from '../lib/browser.mjs'
import { until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'

const { test } = suite()
const ago = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString()

test('a device is found, opened and closed by keyboard alone', async ({ page, api, server }) => {
  const wanted = await api.device('Kilo 2')
  await api.device('Kilo 1')
  await api.locate(wanted.id, 42, -9)
  await page.goto(`${server.url}/settings`)
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  await page.keyboard.press('/')
  await page.getByRole('searchbox', { name: 'Search devices' }).waitFor()
  await page.keyboard.type('kilo')
  const rows = page.getByRole('list', { name: 'Devices' }).getByRole('listitem')
  await until('both are found', async () => (await rows.count()) === 2)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/devices/${wanted.id}`)
  await page.keyboard.press('Escape')
  await page.waitForURL(`${server.url}/`)
  await page.keyboard.press('/')
  await page.keyboard.press('Escape')
  assert.equal(await page.getByRole('searchbox').inputValue(), '')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('a')
  await page.waitForURL('**/alerts')
})

test('the history shortcut opens the history of the device whose panel is open', async ({ page, api, server }) => {
  const device = await api.device('Lima')
  await api.locate(device.id, 42, -9)
  await page.goto(`${server.url}/devices/${device.id}`)
  await page.getByRole('heading', { name: 'Lima' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await page.waitForURL(`**/history/${device.id}*`)
})

test('the table is sorted by any column, and an address keeps the order', async ({ page, api, server }) => {
  const [low, high] = [await api.device('Tango low'), await api.device('Tango high')]
  await api.locate(low.id, 1, 1, { battery: 11 })
  await api.locate(high.id, 2, 2, { battery: 93 })
  await page.goto(`${server.url}/devices`)
  await page.getByRole('searchbox').fill('Tango')
  const names = () => page.locator('tbody td.name').allInnerTexts()
  const sorted = (...wanted) => until(wanted.join(), async () => (await names()).join() === wanted.join())
  await sorted('Tango high', 'Tango low')
  await page.getByRole('button', { name: 'Battery' }).click()
  await sorted('Tango low', 'Tango high')
  await page.getByRole('button', { name: 'Battery' }).click()
  await sorted('Tango high', 'Tango low')
  assert.equal(new URL(page.url()).search, '?sort=-battery')
  await page.reload()
  assert.equal(await page.getByRole('columnheader', { name: 'Battery' }).getAttribute('aria-sort'), 'descending')
})

test('a British browser gets a British clock with its zone, and degrees and minutes if wished', async ({ page, api, server }) => {
  const device = await api.device('Uniform')
  await api.locate(device.id, 42.2406, -8.72071, { dateTime: '2026-06-01T14:53:07Z' })
  await page.goto(`${server.url}/settings`)
  await page.getByLabel('Coordinates').selectOption({ label: 'Degrees and minutes' })
  await page.goto(`${server.url}/devices/${device.id}`)
  await page.getByText('42° 14.436′ N, 008° 43.243′ W').waitFor()
  await page.getByText('1 Jun 2026, 15:53:07 BST').waitFor()
}, { locale: 'en-GB', timezoneId: 'Europe/London' })

test('a link to an alert is the page of the incident', async ({ page, api, server }) => {
  const device = await api.device('Mike')
  const { ids: [id] } = await api.post(`/api/devices/${device.id}/alerts`, {
    dateTime: ago(30), alertName: 'SOSButton', latitude: 42.2406, longitude: -8.72071, text: 'Taking water'
  })
  await api.locate(device.id, 42.25, -8.72071, { dateTime: ago(20), speed: 7 })
  await page.goto(`${server.url}/alerts/${id}`)
  const detail = page.getByRole('region', { name: 'Alert details' })
  await detail.getByText('42° 14.436′ N, 008° 43.243′ W').waitFor()
  await detail.getByText('42.24060, -8.72071').waitFor()
  const hrefs = await detail.locator('a[target=_blank]').evaluateAll((all) => all.map(({ href }) => href))
  assert.ok(hrefs.some((href) => href.startsWith('https://')) && hrefs.some((href) => href.startsWith('geo:42.24')))
  await detail.getByRole('cell', { name: '7 km/h' }).waitFor()
  // The next position appears by itself.
  await api.locate(device.id, 42.26, -8.72071, { dateTime: ago(10), speed: 9 })
  await detail.getByRole('cell', { name: '9 km/h' }).waitFor()
  await detail.getByRole('button', { name: 'Acknowledge' }).click()
  await detail.getByRole('listitem').filter({ hasText: 'Acknowledged' }).waitFor()
  await page.emulateMedia({ media: 'print' })
  await page.getByRole('navigation', { name: 'Main navigation' }).waitFor({ state: 'hidden' })
  assert.ok(await detail.getByText('Taking water').isVisible())
  await api.post(`/api/alerts/${id}/end`)
})

test('on a phone the sheet is pulled over the map, and every button is large enough', async ({ page, api, server }) => {
  const device = await api.device('Sierra')
  await api.locate(device.id, 10, 10, { speed: 5 })
  await page.goto(`${server.url}/devices/${device.id}`)
  const place = page.getByText('10.00000, 10.00000')
  await place.waitFor()
  // Without scrolling: the position is in the visible part of the sheet.
  const { y, height } = await place.boundingBox()
  assert.ok(y + height < phone.height - 60, `the position is at ${y}`)
  const handle = page.getByRole('button', { name: 'Resize the panel' })
  const before = (await handle.boundingBox()).y
  await handle.focus()
  await page.keyboard.press('ArrowUp')
  await until('it is higher', async () => (await handle.boundingBox()).y < before - 100)
  const small = await page.locator('main button:visible, nav button:visible').evaluateAll((all) =>
    all
      .filter((element) => !element.matches('.maplibregl-ctrl-attrib-button, .handle'))
      .map((element) => [element.getAttribute('aria-label') ?? element.textContent, element.getBoundingClientRect().height])
      .filter(([, size]) => size < 44)
  )
  assert.deepEqual(small, [])
}, { viewport: phone, hasTouch: true, isMobile: true })

test('the console can be installed', async ({ page, server }) => {
  const manifest = await page.evaluate(async () => {
    const answer = await fetch(document.querySelector('link[rel=manifest]').href)
    return { ok: answer.ok, ...(await answer.json()) }
  })
  assert.ok(manifest.ok)
  assert.equal(manifest.display, 'standalone')
  for (const { src } of manifest.icons) assert.equal((await fetch(`${server.url}/${src}`)).status, 200, src)
})
