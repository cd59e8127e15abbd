// Drivers: made with key tags, assigned to devices, and set on trips by hand.
import assert from 'node:assert/strict'
import { overflow, serious } from '../lib/page.mjs'
import { until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'
import { minute, settled, traveller } from '../lib/trips.mjs'

const { test } = suite()
const utc = { timezoneId: 'UTC', expected: [/status of 409/] }
/** Seven in the morning of yesterday, in the zone of the browser. */
const yesterday = () => {
  const day = new Date()
  day.setUTCHours(7, 0, 0, 0)
  return day.getTime() - 1440 * minute
}
const legs = [{ stands: 10 }, { drives: 30 }, { stands: 20 }, { drives: 12 }, { stands: 15 }]

test('a driver is made, found by a key tag and deleted', async ({ page, api }) => {
  await page.getByRole('link', { name: 'Drivers' }).click()
  await page.getByRole('button', { name: 'New driver' }).click()
  const form = page.getByRole('form', { name: 'Driver' })
  await form.getByLabel('Name').fill('Ana Souto')
  await form.getByLabel('Key tags').fill('01-0a, b2')
  await form.getByRole('button', { name: 'Add driver' }).click()
  await page.getByText('Driver added.').waitFor()
  const { drivers } = await api.get('/api/drivers?q=Souto')
  assert.deepEqual(drivers[0].tags, ['10A', 'B2'])
  assert.deepEqual(await serious(page), [])
  await page.getByRole('link', { name: 'All drivers' }).click()
  await page.getByLabel('Search drivers').fill('10a')
  await page.getByRole('link', { name: /Ana Souto/ }).click()
  await page.getByRole('button', { name: 'Delete driver…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('“Ana Souto” was deleted.').waitFor()
  assert.deepEqual((await api.get('/api/drivers?q=Souto')).drivers, [])
  assert.ok((await overflow(page)) <= 0)
})

test(
  'a key tag of somebody else is refused in words',
  async ({ page, api, server }) => {
    await api.post('/api/drivers', { name: 'Owner of C3', tags: ['C3'] })
    await page.goto(`${server.url}/drivers/new`)
    const form = page.getByRole('form', { name: 'Driver' })
    await form.getByLabel('Name').fill('Somebody')
    await form.getByLabel('Key tags').fill('0c3')
    await form.getByRole('button', { name: 'Add driver' }).click()
    await form.getByText('The driver "Owner of C3" has the key tag C3.').waitFor()
  },
  { expected: [/status of 409/] }
)

test(
  'a driver is assigned to a device, and the trips have the driver',
  async ({ page, api, server }) => {
    const van = await traveller(api, 'Van of drivers', yesterday(), legs)
    const bea = await api.post('/api/drivers', { name: 'Bea Lema' })
    await page.goto(`${server.url}/drivers/${bea.id}`)
    await page.getByRole('button', { name: 'Assign to a device' }).click()
    const form = page.getByRole('form', { name: 'Assignment' })
    await form.getByRole('combobox', { name: 'Device' }).fill('Van of drivers')
    await page.keyboard.press('Enter')
    await form.getByLabel('From').fill(new Date(yesterday()).toISOString().slice(0, 16))
    await form.getByRole('button', { name: 'Save' }).click()
    const list = page.getByRole('list', { name: 'Assignments' })
    await list.getByText('Now', { exact: true }).waitFor()
    const named = (name) =>
      until(`trips of ${name}`, async () => {
        const trips = (await settled(api, van.id)).filter(({ kind }) => kind === 'trip')
        return trips.every(({ driverName }) => driverName === name) && trips
      })
    await named('Bea Lema')
    assert.deepEqual(await serious(page), [])

    // Another driver at the same time is refused with the name of the first one.
    const cai = await api.post('/api/drivers', { name: 'Cai Rey' })
    await page.goto(`${server.url}/drivers/${cai.id}`)
    await page.getByRole('button', { name: 'Assign to a device' }).click()
    await form.getByRole('combobox', { name: 'Device' }).fill('Van of drivers')
    await page.keyboard.press('Enter')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('The device is assigned to "Bea Lema"').waitFor()

    // In the history, the driver of a trip is picked by hand.
    await page.goto(`${server.url}/history/${van.id}?range=yesterday`)
    const trip = page
      .getByRole('region', { name: 'Trips and stops' })
      .getByRole('listitem')
      .filter({ hasText: 'Trip' })
      .first()
    await trip.getByText('Bea Lema').first().waitFor()
    await trip.getByRole('button').first().click()
    const labels = page.getByRole('form', { name: 'Name and purpose' })
    await labels.getByLabel('Driver').fill('Cai Rey')
    await labels.getByRole('button', { name: 'Save' }).click()
    await trip.getByText('Cai Rey (by hand)').waitFor()
    const [first] = (await settled(api, van.id)).filter(({ kind }) => kind === 'trip')
    assert.equal(first.driverId, cai.id)
  },
  utc
)
