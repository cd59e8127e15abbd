// Maintenance: a plan becomes due, the page, the panel and the alert show it, and "done" begins the next cycle.
import assert from 'node:assert/strict'
import { until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'
import { minute, settled, traveller } from '../lib/trips.mjs'

const { test } = suite()
const yesterday = () => {
  const day = new Date()
  day.setUTCHours(7, 0, 0, 0)
  return day.getTime() - 1440 * minute
}
const legs = [{ stands: 10 }, { drives: 30 }, { stands: 20 }, { drives: 12 }, { stands: 15 }]

test('a plan becomes due, and what is done begins the next cycle', async ({ page, api, server }) => {
  const van = await traveller(api, 'Van 12', yesterday(), legs)
  await settled(api, van.id)
  await page.goto(`${server.url}/maintenance`)
  await page.getByRole('heading', { name: 'Maintenance', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'New plan' }).first().click()
  await page.getByLabel('Device', { exact: true }).selectOption({ label: 'Van 12' })
  await page.getByLabel('Name', { exact: true }).fill('Oil change')
  await page.getByLabel('Kilometres', { exact: true }).fill('20')
  await page.getByLabel('Kilometres before').fill('5')
  const begun = new Date(yesterday() - 60 * minute).toISOString()
  await page.getByLabel('Odometer (km)').fill('1000')
  await page.getByRole('button', { name: 'Add plan' }).click()
  await page.getByText('Plan added.').waitFor()
  const [plan] = (await api.get('/api/maintenance')).plans
  assert.equal(plan.due.state, 'ok')
  // It was last done before the trips.
  await api.patch(`/api/maintenance/${plan.id}`, { lastDone: begun })
  await until('the alert is raised', async () => {
    const { alerts } = await api.get(`/api/devices/${van.id}/alerts`)
    return alerts.some(({ alertName }) => alertName === 'MaintenanceDue')
  })
  await page.goto(`${server.url}/maintenance`)
  const list = page.getByRole('list', { name: 'Maintenance' })
  await list.getByText('Due', { exact: true }).waitFor()
  await list.getByText(/km over/).waitFor()
  await page.goto(`${server.url}/devices/${van.id}`)
  await page.getByRole('link', { name: /Oil change/ }).waitFor()
  await page.goto(`${server.url}/alerts`)
  await page.getByText('Maintenance due').first().waitFor()
  await page.goto(`${server.url}/maintenance`)
  await list.getByRole('button', { name: 'Done' }).click()
  await page.getByLabel('Note', { exact: true }).fill('Filter replaced too')
  await page.getByLabel('Cost', { exact: true }).fill('120.5')
  await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
  await page.getByText('The next cycle has begun.').waitFor()
  await list.getByText('Not due').waitFor()
  await list.getByRole('link', { name: 'Van 12' }).click()
  const history = page.getByRole('list', { name: 'History' })
  await history.getByText('Filter replaced too').waitFor()
  await history.getByText(/120\.5 EUR/).waitFor()
  const { alerts } = await api.get(`/api/devices/${van.id}/alerts`)
  assert.ok(alerts.every(({ endedAt }) => endedAt !== null), JSON.stringify(alerts))
})

test('a geofence shows who was there', async ({ page, api, server }) => {
  const van = await traveller(api, 'Van 14', yesterday(), legs)
  const [first] = (await api.get(`/api/devices/${van.id}/locations?limit=1`)).locations
  const fence = await api.post('/api/geofences', {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [first.longitude, first.latitude] },
    properties: { name: 'Depot', radius: 400 }
  })
  await page.goto(`${server.url}/geofences/${fence.id}`)
  await page.getByRole('button', { name: 'Find visits' }).click()
  const visits = page.getByRole('list', { name: 'Visits' })
  await visits.getByRole('link', { name: 'Van 14' }).waitFor()
})
