// Reports: found, previewed, downloaded, and kept in the address of the page.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'
import { minute, settled, traveller } from '../lib/trips.mjs'

const { test } = suite()
const utc = { timezoneId: 'UTC' }
const yesterday = () => {
  const day = new Date()
  day.setUTCHours(7, 0, 0, 0)
  return day.getTime() - 1440 * minute
}
const legs = [{ stands: 10 }, { drives: 30 }, { stands: 20 }, { drives: 12 }, { stands: 15 }]

/** Presses a button and returns the text and the name of the file that it downloads. */
async function download(page, name) {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()])
  return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) }
}

test('the trips of a van of yesterday are found and downloaded', async ({ page, api }) => {
  const van = await traveller(api, 'Van 12', yesterday(), legs)
  await traveller(api, 'Truck 3', yesterday(), legs, { latitude: 40 })
  const trips = (await settled(api, van.id)).filter(({ kind }) => kind === 'trip')
  await page.getByRole('link', { name: 'Reports' }).click()
  await page.getByRole('heading', { name: 'Reports', level: 1 }).waitFor()
  await page.getByLabel('Period').selectOption({ label: 'Yesterday' })
  await page.getByText('4 rows').waitFor()
  await page.getByRole('checkbox', { name: 'Van 12' }).check()
  await page.getByText('2 rows').waitFor()
  const table = page.getByRole('region', { name: 'Trips' })
  // The rows are counted before they are drawn.
  await table.locator('tbody tr').nth(1).waitFor()
  assert.equal(await table.locator('tbody tr').count(), 2)
  assert.equal(await table.getByText('Truck 3').count(), 0)
  const csv = await download(page, 'Download as CSV')
  assert.equal(csv.name, 'trips.csv')
  const lines = csv.bytes.toString('utf8').trim().split(/\r?\n/)
  assert.equal(lines.length, 3)
  assert.ok(lines.slice(1).every((line) => line.includes('Van 12')), csv.bytes.toString())
  const json = JSON.parse((await download(page, 'Download as JSON')).bytes)
  assert.deepEqual(json.rows.map(({ distance }) => distance), trips.map(({ distance }) => distance))
  // A workbook is a ZIP file.
  assert.equal((await download(page, 'Download as XLSX')).bytes.subarray(0, 2).toString(), 'PK')
  assert.equal((await download(page, 'Download as PDF')).bytes.subarray(0, 5).toString(), '%PDF-')
  // The address has the whole report.
  await page.reload()
  await page.getByText('2 rows').waitFor()
  assert.equal(await page.getByLabel('Period').inputValue(), 'yesterday')
}, utc)

test('totals by day are drawn, and columns are chosen', async ({ page, api, server }) => {
  const begun = yesterday()
  const van = await traveller(api, 'Van of two days', begun - 1440 * minute, legs)
  await api.post(`/api/devices/${van.id}/locations`, Array.from({ length: 40 }, (_, step) => ({
    dateTime: new Date(begun + step * minute).toISOString(), latitude: 42.6 + step / 111.195, longitude: -8.72, speed: 60
  })))
  await until('both days are known', async () => (await settled(api, van.id)).filter(({ kind }) => kind === 'trip').length >= 3)
  const iso = (at) => new Date(at).toISOString().slice(0, 16)
  const period = `period=custom&from=${iso(begun - 2880 * minute)}&to=${iso(begun + 1440 * minute)}`
  await page.goto(`${server.url}/reports?kind=totals&devices=${van.id}&${period}`)
  await page.getByText('2 rows').waitFor()
  await page.getByRole('img', { name: /^Distance \(km\)\. .*; / }).waitFor()
  await page.getByText(/^\d+ columns$/).click()
  await page.getByRole('checkbox', { name: 'Trips', exact: true }).uncheck()
  const table = page.getByRole('region', { name: 'Totals' })
  await table.getByRole('columnheader', { name: 'Trips', exact: true }).waitFor({ state: 'detached' })
  await page.getByLabel('A row for each').selectOption({ label: 'Whole period' })
  await page.getByText('1 row', { exact: true }).waitFor()
}, utc)

test('a report of another language has its titles', async ({ page, api, server }) => {
  await traveller(api, 'Furgón', yesterday(), legs)
  await page.goto(`${server.url}/settings`)
  await page.locator('select').first().selectOption('es')
  await page.getByRole('heading', { name: 'Ajustes', level: 1 }).waitFor()
  await page.goto(`${server.url}/reports?period=yesterday`)
  await page.getByRole('columnheader', { name: 'Distancia (km)' }).waitFor()
  await page.goto(`${server.url}/settings`)
  await page.locator('select').first().selectOption('en')
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
}, utc)

test('a report is saved, scheduled for Mondays and shown on a page of its own', async ({ page, api, server }) => {
  const van = await traveller(api, 'Van 20', yesterday(), legs)
  await settled(api, van.id)
  await page.goto(`${server.url}/reports?kind=trips&period=yesterday&devices=${van.id}`)
  await page.getByText('2 rows').waitFor()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const saving = page.getByRole('dialog', { name: 'Save report' })
  await saving.getByLabel('Name').fill('Trips of van 20')
  await saving.getByRole('button', { name: 'Save', exact: true }).click()
  await page.waitForURL(/\/reports\/rpt_/)
  const { reports } = await api.get('/api/reports')
  const saved = reports.find(({ name }) => name === 'Trips of van 20')
  assert.deepEqual(saved.report.devices, [van.id])
  await page.getByRole('button', { name: 'Schedule of Trips of van 20' }).click()
  const dialog = page.getByRole('dialog', { name: 'Schedule: Trips of van 20' })
  assert.equal(await dialog.getByLabel('How often').inputValue(), 'weekly')
  assert.equal(await dialog.getByRole('checkbox', { name: 'Mon' }).isChecked(), true)
  await dialog.getByRole('checkbox', { name: 'Thu' }).check()
  await dialog.getByLabel('Time', { exact: true }).fill('06:30')
  await dialog.getByLabel('Format').selectOption('pdf')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  const { schedule, nextRun } = await api.get(`/api/reports/${saved.id}`)
  assert.deepEqual([schedule.frequency, schedule.weekdays, schedule.time, schedule.format, schedule.users.length],
    ['weekly', ['monday', 'thursday'], '06:30', 'pdf', 1])
  assert.ok([1, 4].includes(new Date(nextRun).getUTCDay()), nextRun)
  await page.getByText(/^Next: /).waitFor()
  // The address alone shows the report; another choice can be saved in its place.
  await page.goto(`${server.url}/reports/${saved.id}`)
  await page.getByText('2 rows').waitFor()
  assert.equal(await page.getByLabel('Period').inputValue(), 'yesterday')
  await page.getByLabel('Report', { exact: true }).selectOption('stops')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await until('the report is changed', async () => (await api.get(`/api/reports/${saved.id}`)).report.kind === 'stops')
  await page.getByRole('button', { name: 'Delete Trips of van 20' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await until('the report is deleted', async () => (await api.get('/api/reports')).reports.length === 0)
}, utc)
