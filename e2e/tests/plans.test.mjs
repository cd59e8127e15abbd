// A plan with check-ins, from its editor to the phone of the traveller: it is planned with a route from a file, started, a
// check-in is missed, the steps are taken, and the traveller resolves it by a link without an account.
import assert from 'node:assert/strict'
import { desktop, phone, visit } from '../lib/browser.mjs'
import { overflow, serious } from '../lib/page.mjs'
import { until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'

const world = suite()
const gpx = `<?xml version="1.0"?><gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><rte><name>To the Azores</name>
<rtept lat="42.24" lon="-8.72"><name>Vigo</name></rtept><rtept lat="38.53" lon="-28.62"><name>Horta</name></rtept></rte></gpx>`
const fileOf = (text) => ({ name: 'route.gpx', mimeType: 'application/gpx+xml', buffer: Buffer.from(text) })
const looks = [
  { look: 'desktop', viewport: desktop },
  { look: 'phone', viewport: phone, hasTouch: true, colorScheme: 'dark' }
]

/** Fills in the editor and saves the plan; returns its ID. */
async function planVoyage(page, server, name, boat) {
  await page.goto(`${server.url}/plans`)
  await page.getByRole('button', { name: 'New plan' }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name)
  await page.getByRole('checkbox', { name: boat }).check()
  await page.getByRole('button', { name: 'Add a traveller' }).click()
  await page.getByRole('group', { name: 'Traveller 1' }).getByLabel('Name', { exact: true }).fill('Ana Castro')
  await page.getByRole('button', { name: 'Import GPX' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import GPX' })
  await dialog.getByLabel('GPX file').setInputFiles(fileOf('latitude,longitude\n1,2'))
  await dialog.getByText('This is not a GPX file.').waitFor()
  await dialog.getByLabel('GPX file').setInputFiles(fileOf(gpx))
  await dialog.getByText('To the Azores').waitFor()
  await dialog.getByRole('button', { name: 'Replace the waypoints' }).click()
  await page.getByText('2 waypoints').waitFor()
  // A tap on the map adds a third.
  const map = page.getByRole('region', { name: 'Map of the plan' })
  await map.scrollIntoViewIfNeeded()
  const { x, y, width, height } = await map.boundingBox()
  await page.mouse.click(x + width / 2, y + height / 3)
  await page.getByText('3 waypoints').waitFor()
  await page.getByRole('button', { name: 'Remove waypoint 3' }).click()
  await page.getByText('2 waypoints').waitFor()
  await page.getByText('Check-ins are expected every 6 hours.').waitFor()
  for (const label of ['Ask the travellers after (minutes)', 'Warn the contacts after (minutes)', 'Critical alert after (minutes)']) {
    await page.getByLabel(label).fill('0')
  }
  await page.getByText('at once: critical alert').waitFor()
  assert.deepEqual(await serious(page), [], 'the editor')
  assert.ok((await overflow(page)) <= 0)
  await page.getByRole('button', { name: 'Save as draft' }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
  return new URL(page.url()).pathname.split('/').at(-1)
}

for (const { look, ...options } of looks) {
  world.test(
    `a voyage is planned, a check-in is missed, and the traveller resolves it: ${look}`,
    async ({ page, api, server, browser }) => {
      const boat = `Sirius ${look}`
      const name = `Vigo–Azores ${look}`
      const device = await api.device(boat)
      await api.locate(device.id, 41.5, -12)
      const id = await planVoyage(page, server, name, boat)

      await page.getByRole('button', { name: 'Start', exact: true }).click()
      await page.getByText('Active', { exact: true }).first().waitFor()
      await page.getByRole('timer').getByText('Check-in: in').waitFor()
      await page.getByRole('meter', { name: 'Progress' }).waitFor()
      await page.getByLabel('For whom').fill('Ana')
      await page.getByRole('button', { name: 'Create a link' }).click()
      await page.getByRole('list', { name: 'Links for travellers' }).getByText('not used yet').waitFor()
      assert.deepEqual(await serious(page), [], 'a plan under way')
      const { links } = await api.get(`/api/plans/${id}/links`)

      // The panel of the device shows the plan.
      await page.goto(`${server.url}/devices/${device.id}`)
      await page.getByRole('link', { name }).waitFor()
      await page.getByText('Next check-in').waitFor()

      // A waypoint is to be reached in a moment.
      await page.goto(`${server.url}/plans/${id}`)
      await page.getByText('Active', { exact: true }).first().waitFor()
      const time = new Date(Date.now() + 1_500).toISOString()
      await api.patch(`/api/plans/${id}`, { earlyMinutes: 0, waypoints: [{ name: 'Horta', latitude: 38.53, longitude: -28.62, time }] })
      await page.getByText('Overdue', { exact: true }).first().waitFor()
      const ladder = page.getByRole('list', { name: 'If a check-in is missing:' })
      await ladder.getByRole('listitem').filter({ hasText: 'Critical alert' }).getByText(/^done/).waitFor()
      const banner = page.getByRole('region', { name: 'Critical alerts' })
      await banner.getByRole('link', { name: boat }).waitFor()
      const events = page.getByRole('list', { name: 'Events' })
      await events.getByText('Critical alert raised').waitFor()
      assert.deepEqual(await serious(page), [], 'an overdue plan')

      // Every page shows the critical alert, and the list has the plan first.
      await page.goto(`${server.url}/plans`)
      await page.getByRole('list', { name: 'Current' }).getByRole('listitem').first().getByText('Overdue').waitFor()
      await banner.getByRole('link', { name: boat }).waitFor()
      await page.goto(`${server.url}/plans/${id}/rescue`)
      await page.getByRole('heading', { name: 'Last positions' }).waitFor()
      await page.getByText('Ana Castro').waitFor()
      assert.deepEqual(await serious(page), [], 'the rescue sheet')

      // The traveller has a phone, a link, and no account.
      const { context, page: mobile, wrong } = await visit(browser, server, { viewport: phone, hasTouch: true })
      await mobile.goto(new URL(new URL(links[0].url).pathname, server.url).href)
      assert.deepEqual(await serious(mobile), [], 'the page of the traveller')
      assert.ok((await overflow(mobile)) <= 0)
      await mobile.getByRole('button', { name: 'I am well' }).click()
      await mobile.getByText('Done.').waitFor()
      await context.close()
      assert.deepEqual(wrong, [])

      await page.goto(`${server.url}/plans/${id}`)
      await page.getByText('Active', { exact: true }).first().waitFor()
      await events.getByText('All-clear: checked in late').waitFor()
      await until('the alert has ended', async () => (await api.get(`/api/alerts?device=${device.id}&stage=open`)).alerts.length === 0)
      await banner.waitFor({ state: 'detached' })

      await page.getByRole('button', { name: 'End', exact: true }).click()
      await page.getByRole('dialog').getByLabel('Note').fill('Safe in Horta')
      await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click()
      await events.getByText('Safe in Horta').waitFor()
    },
    options
  )

  world.test(
    `plans are copied as templates and shown in a calendar: ${look}`,
    async ({ page, api, server }) => {
      const device = await api.device(`Spare ${look}`)
      const start = new Date(Date.now() + 3_600_000).toISOString()
      const plan = await api.post('/api/plans', { name: `Night shift ${look}`, kind: 'shift', devices: [device.id], start })
      await page.goto(`${server.url}/plans?view=calendar`)
      await page.getByRole('list', { name: /^Plans in / }).getByRole('link', { name: plan.name }).waitFor()
      assert.deepEqual(await serious(page), [], 'the calendar')
      assert.ok((await overflow(page)) <= 0)
      await page.goto(`${server.url}/plans/${plan.id}`)
      await page.getByRole('button', { name: 'Copy', exact: true }).click()
      const dialog = page.getByRole('dialog', { name: 'Copy' })
      await dialog.getByLabel('Name', { exact: true }).fill(`Usual night ${look}`)
      await dialog.getByLabel('Copy as a template').check()
      await dialog.getByRole('button', { name: 'Copy and edit' }).click()
      await page.getByRole('heading', { name: 'Change the plan' }).waitFor()
      await page.goto(`${server.url}/plans?view=templates`)
      await page.getByRole('link', { name: `Usual night ${look}` }).click()
      await page.getByRole('button', { name: 'New plan from this' }).waitFor()
      assert.equal(await page.getByRole('button', { name: 'Start', exact: true }).count(), 0)
      // The tabs are changed by the arrow keys.
      await page.goto(`${server.url}/plans`)
      await page.getByRole('tab', { name: 'Current' }).focus()
      await page.keyboard.press('ArrowRight')
      await page.getByRole('tab', { name: 'Calendar', selected: true }).waitFor()
    },
    options
  )
}
