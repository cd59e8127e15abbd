// Trips and stops: the history of a day, its calendar, labels by hand, and what a device does at present.
import assert from 'node:assert/strict'
import { phone } from '../lib/browser.mjs'
import { overflow, serious } from '../lib/page.mjs'
import { until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'
import { minute, settled, traveller } from '../lib/trips.mjs'

const { test } = suite()
/** Seven in the morning of yesterday, in the zone of the browser. */
const yesterday = () => {
  const day = new Date()
  day.setUTCHours(7, 0, 0, 0)
  return day.getTime() - 1440 * minute
}
const utc = { timezoneId: 'UTC' }
const legs = [
  { stands: 10, ignition: true },
  { drives: 30, ignition: true },
  { stands: 20, ignition: false },
  { drives: 12, ignition: true },
  { stands: 15, ignition: false }
]
const itinerary = (page) => page.getByRole('region', { name: 'Trips and stops' })

test('the trips of yesterday are listed, and the map, the charts and the playback follow', async ({ page, api, server }) => {
  const van = await traveller(api, 'Van of yesterday', yesterday(), legs)
  await page.goto(`${server.url}/history`)
  await page.getByRole('combobox', { name: 'Device' }).fill('Van of')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Yesterday' }).click()
  const list = itinerary(page)
  await list.getByRole('heading', { name: '2 trips' }).waitFor()
  // The figures are those of the rows: of the API, not of the drawn track.
  const segments = await settled(api, van.id)
  const trips = segments.filter(({ kind }) => kind === 'trip')
  const distance = trips.reduce((sum, trip) => sum + trip.distance, 0)
  const shown = await page.getByText('Distance', { exact: true }).locator('..').locator('dd').innerText()
  assert.ok(Math.abs(parseFloat(shown) - distance) < 0.06, `${shown} is not ${distance}`)
  // A click on the second trip moves the playback to its beginning.
  const rows = list.getByRole('listitem')
  assert.equal(await rows.count(), segments.length)
  const position = page.getByRole('slider', { name: 'Playback position' })
  await rows.filter({ hasText: 'Trip' }).nth(1).getByRole('button').first().click()
  // The slider has steps of some seconds.
  const away = Math.abs(Number(await position.inputValue()) - Date.parse(trips[1].from))
  assert.ok(away < minute, `${away} ms from the beginning of the trip`)
  await page.getByRole('toolbar', { name: 'Trips, stops and alerts over time' }).getByRole('button', { pressed: true }).waitFor()
  await page.getByLabel('Trips only').check()
  assert.equal(await rows.count(), 2)
}, utc)

test('the strip of a day is used by keyboard and says what it shows', async ({ page, api, server }) => {
  const van = await traveller(api, 'Van of keys', yesterday(), legs)
  await page.goto(`${server.url}/history/${van.id}?range=yesterday`)
  const strip = page.getByRole('toolbar', { name: 'Trips, stops and alerts over time' })
  await strip.waitFor()
  const buttons = strip.getByRole('button')
  const labels = await buttons.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))
  assert.equal(labels.length, 5)
  assert.match(labels[0], /^Stop, .*7:00.*idling/)
  assert.match(labels[1], /^Trip, .* min, .*km/)
  // One stop of the tab key, then arrows.
  assert.equal(await strip.locator('[tabindex="0"]').count(), 1)
  await buttons.first().focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  assert.equal(await buttons.nth(1).getAttribute('aria-pressed'), 'true')
  await page.keyboard.press('End')
  assert.ok(await buttons.last().evaluate((one) => one === document.activeElement))
  assert.deepEqual(await serious(page), [])
}, utc)

test('a trip is named in place, and somebody else has not changed it meanwhile', async ({ page, api, server }) => {
  const van = await traveller(api, 'Van of names', yesterday(), legs)
  await page.goto(`${server.url}/history/${van.id}?range=yesterday`)
  const trip = itinerary(page).getByRole('listitem').filter({ hasText: 'Trip' }).first()
  await trip.getByRole('button').first().click()
  const form = page.getByRole('form', { name: 'Name and purpose' })
  await form.getByLabel('Name').fill('Delivery to Porto')
  await form.getByLabel('Purpose').selectOption({ label: 'Business' })
  await form.getByLabel('Driver').fill('Ana')
  await form.getByRole('button', { name: 'Save' }).click()
  await trip.getByText('Business · Ana').waitFor()
  const [{ id }] = (await settled(api, van.id)).filter(({ kind }) => kind === 'trip')
  const stored = await api.get(`/api/segments/${id}`)
  assert.deepEqual([stored.name, stored.purpose, stored.driver], ['Delivery to Porto', 'business', 'Ana'])
  // Changed by somebody else since: nothing is overwritten, and the form shows the new values.
  await api.patch(`/api/segments/${id}`, { name: 'Delivery to Braga' })
  await form.getByLabel('Note').fill('Two pallets')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('changed').first().waitFor()
  await until('the new name is shown', async () => (await form.getByLabel('Name').inputValue()) === 'Delivery to Braga')
  assert.equal((await api.get(`/api/segments/${id}`)).note, null)
}, { ...utc, expected: [/status of 412/] })

test('the calendar shows the distance of each day', async ({ page, api, server }) => {
  const begun = yesterday()
  const van = await traveller(api, 'Van of the month', begun, legs)
  await page.goto(`${server.url}/history/${van.id}`)
  await page.getByRole('button', { name: 'Calendar' }).click()
  // Yesterday may belong to the month before.
  if (new Date(begun).getUTCMonth() !== new Date().getUTCMonth()) await page.getByRole('button', { name: 'Previous month' }).click()
  const calendar = page.getByRole('region', { name: 'Calendar' })
  const day = calendar.getByRole('button', { name: /^\d+ [1-9][\d.]* km/ })
  await day.waitFor()
  assert.equal(await day.count(), 1)
  await day.click()
  await itinerary(page).getByRole('heading', { name: '2 trips' }).waitFor()
  assert.equal(await day.getAttribute('aria-pressed'), 'true')
}, utc)

test('the same trip of another day is found to compare with', async ({ page, api, server }) => {
  const begun = yesterday()
  const van = await traveller(api, 'Commuter', begun - 1440 * minute, [{ stands: 10 }, { drives: 40 }, { stands: 10 }])
  const track = []
  // The next day the same way in half of the time.
  for (let step = 0; step <= 40; step++) {
    const part = Math.min(1, Math.max(0, (step - 10) / 20))
    track.push({ dateTime: new Date(begun + step * minute).toISOString(), latitude: 42.24 + (40 / 111.195) * part, longitude: -8.72, speed: part > 0 && part < 1 ? 120 : 0 })
  }
  // It went back in the night, where nobody reported.
  await api.post(`/api/devices/${van.id}/locations`, track)
  await until('all trips are known', async () => (await settled(api, van.id)).filter(({ kind }) => kind === 'trip').length >= 2)
  await page.goto(`${server.url}/history/${van.id}?range=yesterday`)
  await itinerary(page).getByRole('listitem').filter({ hasText: 'Trip' }).last().getByRole('button').first().click()
  await page.getByText(/shorter than last time/).waitFor()
  await page.getByRole('link', { name: 'Show that trip' }).click()
  // It is selected on its own day.
  const picked = itinerary(page).getByRole('button', { pressed: true, expanded: true })
  await picked.waitFor()
  assert.match(await picked.innerText(), /40 km|39\.\d km/)
}, utc)

test('the panel says since when a device stands, and how far its trip is, live', async ({ page, api, server }) => {
  const now = Date.now()
  const van = await traveller(api, 'Van of today', now - 40 * minute, [{ drives: 20 }, { stands: 20 }])
  await page.goto(`${server.url}/devices/${van.id}`)
  await page.getByText(/^Stopped for (1[89]|2[0-2]) min$/).waitFor()
  // It leaves.
  const [stop] = (await settled(api, van.id)).slice(-1)
  const away = Array.from({ length: 8 }, (_, step) => ({
    // Locations may be some minutes ahead of the server's clock.
    dateTime: new Date(now + step * 30_000).toISOString(),
    latitude: stop.end.latitude + (step + 1) / 111.195,
    longitude: stop.end.longitude,
    speed: 120
  }))
  await api.post(`/api/devices/${van.id}/locations`, away)
  await page.getByText(/^On the way since .* km$/).waitFor()
}, utc)

test('the history of a day fits on a phone', async ({ page, api, server }) => {
  const van = await traveller(api, 'Van on a phone', yesterday(), legs)
  await page.goto(`${server.url}/history/${van.id}?range=yesterday`)
  await page.getByRole('button', { name: 'Calendar' }).click()
  await itinerary(page).getByRole('listitem').filter({ hasText: 'Trip' }).first().getByRole('button').first().click()
  await page.getByRole('form', { name: 'Name and purpose' }).waitFor()
  assert.ok((await overflow(page)) <= 0)
  assert.deepEqual(await serious(page), [])
}, { ...utc, viewport: phone, hasTouch: true })

test('trips are merged and split in place, and both are undone', async ({ page, api, server }) => {
  const van = await traveller(api, 'Van of corrections', yesterday(), legs)
  const trips = async () => (await settled(api, van.id)).filter(({ kind }) => kind === 'trip')
  await page.goto(`${server.url}/history/${van.id}?range=yesterday`)
  const list = itinerary(page)
  await list.getByRole('heading', { name: '2 trips' }).waitFor()
  const first = list.getByRole('listitem').filter({ hasText: 'Trip' }).first()
  await first.getByRole('button').first().click()
  await list.getByRole('button', { name: 'Merge with the next trip' }).click()
  await list.getByRole('heading', { name: '1 trip' }).waitFor()
  assert.equal((await trips()).length, 1)
  const made = page.getByRole('region', { name: 'Corrections by hand' })
  await made.getByRole('button', { name: 'Undo' }).click()
  await list.getByRole('heading', { name: '2 trips' }).waitFor()
  assert.equal((await trips()).length, 2)
  // Playback stands at the beginning of the trip, where it cannot be split.
  await first.getByRole('button').first().click()
  if ((await first.getByRole('button', { name: 'Split', exact: true }).count()) === 0) {
    await first.getByRole('button').first().click()
  }
  await first.getByRole('button', { name: 'Split', exact: true, disabled: true }).waitFor()
  const [{ from }] = await trips()
  await page.getByRole('slider', { name: 'Playback position' }).fill(String(Date.parse(from) + 10 * minute))
  await first.getByRole('button', { name: /^Split at / }).click()
  await list.getByRole('heading', { name: '3 trips' }).waitFor()
  const lengths = (await trips()).slice(0, 2).map((trip) => (Date.parse(trip.to) - Date.parse(trip.from)) / minute)
  assert.ok(Math.abs(lengths[0] - 10) <= 1 && lengths[0] + lengths[1] >= 28, lengths.join())
  await made.getByText(/^Split at /).waitFor()
  await made.getByRole('button', { name: 'Undo' }).click()
  await list.getByRole('heading', { name: '2 trips' }).waitFor()
  assert.deepEqual((await api.get(`/api/devices/${van.id}/timelineEdits`)).edits, [])
}, utc)
