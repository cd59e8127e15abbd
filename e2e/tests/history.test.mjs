// The history: several devices on one clock, colours by any reading, and a track across the antimeridian.
import assert from 'node:assert/strict'
import { pixelsOf, until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'

const { test } = suite()
const minute = 60_000
const ago = (minutes) => new Date(Date.now() - minutes * minute).toISOString()

/** Creates a device that travelled east for the last hour, one location a minute. */
async function traveller(api, name, latitude, longitude, more = () => ({})) {
  const device = await api.device(name)
  const track = Array.from({ length: 60 }, (_, step) => {
    const east = longitude + step / 100
    return { dateTime: ago(60 - step), latitude, longitude: east > 180 ? east - 360 : east, speed: 40, ...more(step) }
  })
  await api.post(`/api/devices/${device.id}/locations`, track)
  return device
}

const query = () => `from=${encodeURIComponent(ago(120))}&to=${encodeURIComponent(ago(-1))}`

test('another device is shown on the same clock', async ({ page, api, server }) => {
  const first = await traveller(api, 'First of two', 42, -9)
  const second = await traveller(api, 'Second of two', 42.3, -9, (step) => ({ speed: step < 30 ? 11 : 22 }))
  await page.goto(`${server.url}/history/${first.id}?${query()}`)
  await page.getByText('Distance', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Compare with another device' }).click()
  await page.getByRole('combobox', { name: 'Compare with another device' }).fill('Second')
  await page.keyboard.press('Enter')
  const row = page.getByRole('list', { name: 'Other devices' }).getByRole('listitem')
  await row.getByText('11 km/h').waitFor()
  await page.getByRole('slider', { name: 'Playback position' }).focus()
  await page.keyboard.press('End')
  await row.getByText('22 km/h').waitFor()
  // The other device is part of the address, and its track has its own colour.
  assert.equal(new URL(page.url()).searchParams.get('with'), second.id)
  const map = await page.getByRole('region', { name: 'Track on the map' }).boundingBox()
  await until('its track is drawn', async () => (await pixelsOf(page, map, '#9c36b5')) > 200)
  await page.getByRole('button', { name: 'Remove Second of two' }).click()
  await row.waitFor({ state: 'detached' })
  assert.equal(new URL(page.url()).searchParams.get('with'), null)
})

test('a track is coloured by another reading', async ({ page, api, server }) => {
  const device = await traveller(api, 'Warming up', 42, -9, (step) => ({ temperature: 5 + step / 4 }))
  await page.goto(`${server.url}/history/${device.id}?${query()}`)
  const reading = page.getByLabel('Colour by')
  await reading.waitFor()
  const map = await page.getByRole('region', { name: 'Track on the map' }).boundingBox()
  // The legend has all colours; the track is in the middle of the map.
  const middle = { x: map.x + map.width * 0.1, y: map.y + map.height * 0.3, width: map.width * 0.8, height: map.height * 0.3 }
  // The second coldest of six colours; the start marker covers the coldest part of the track.
  const cold = '#0b7c93'
  await until('one speed is one colour', async () => {
    return (await pixelsOf(page, middle, '#b3122a')) > 100 && (await pixelsOf(page, middle, cold)) === 0
  })
  await reading.selectOption({ label: 'Temperature (°C)' })
  await until('the cold part of the track is drawn in the cold colour', async () => (await pixelsOf(page, middle, cold)) > 100)
})

test('a track across the antimeridian is shown in one piece', async ({ page, api, server }) => {
  const device = await traveller(api, 'Dateline', -17, 179.7)
  await page.goto(`${server.url}/history/${device.id}?${query()}`)
  await page.getByText('Distance', { exact: true }).waitFor()
  const map = await page.getByRole('region', { name: 'Track on the map' }).boundingBox()
  const half = (part) => ({ x: map.x + map.width * part, y: map.y + map.height * 0.3, width: map.width * 0.3, height: map.height * 0.3 })
  await until('both sides of it are drawn', async () => {
    return (await pixelsOf(page, half(0.15), '#b3122a')) > 50 && (await pixelsOf(page, half(0.55), '#b3122a')) > 50
  })
  // The map is zoomed in on the track and does not show the whole earth.
  const scale = await page.locator('.maplibregl-ctrl-scale').first().innerText()
  assert.ok(parseFloat(scale) <= 20 && /km/.test(scale), scale)
})
