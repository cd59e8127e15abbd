// The main flows: first device, track, notification limit, expiry, a user of one group, API key, and the phone layout.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { openMailbox } from '../lib/mailbox.mjs'
import { middleOf, pixelsOf, until } from '../lib/pixels.mjs'
import { phone } from '../lib/browser.mjs'
import { suite } from '../lib/suite.mjs'

const mailbox = await openMailbox()
after(() => mailbox.close())
const { test } = suite(mailbox.settings)
const minute = 60_000
const ago = (minutes) => new Date(Date.now() - minutes * minute).toISOString()

test('the welcome page leads to a first device on the map', async ({ page, server }) => {
  await page.goto(`${server.url}/welcome`)
  await page.getByLabel('Name').fill('First of all')
  await page.getByRole('button', { name: 'Add device' }).click()
  await page.getByRole('button', { name: 'Send test locations from this browser' }).click()
  await page.getByText('First of all is on the map.').waitFor()
  await page.getByRole('link', { name: 'Open the live map' }).click()
  const middle = await middleOf(page)
  await until('the dot is drawn', () => pixelsOf(page, middle, '#14824a'))
})

test('a track is shown, played and offered for download', async ({ page, api, server }) => {
  const device = await api.device('Traveller')
  const track = Array.from({ length: 60 }, (_, step) => ({
    dateTime: ago(60 - step),
    latitude: 42 + step / 100,
    longitude: -9 - (step > 20 && step < 40 ? 20 : step) / 100,
    speed: 40
  }))
  await api.post(`/api/devices/${device.id}/locations`, track)
  const from = encodeURIComponent(ago(120))
  await page.goto(`${server.url}/history/${device.id}?from=${from}&to=${encodeURIComponent(ago(0))}`)
  await page.getByText('Distance', { exact: true }).waitFor()
  const position = page.getByRole('slider', { name: 'Playback position' })
  const before = await position.inputValue()
  await page.getByLabel('Playback speed').selectOption({ label: '64×' })
  await page.getByRole('button', { name: 'Play', exact: true }).click()
  await until('the playback moves', async () => (await position.inputValue()) !== before)
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: /GPX/ }).click()])
  assert.match(file.suggestedFilename(), /\.gpx$/)
})

test('a reached limit is shown, and a suppressed notification says why', async ({ page, api, server }) => {
  const device = await api.device('Chatterbox', { limits: { dailyEmailLimit: 1 } })
  await api.put(`/api/devices/${device.id}/alertRouting`, { recipients: [{ channel: 'email', address: 'ana@example.com' }] })
  await page.goto(`${server.url}/devices/${device.id}`)
  await api.post(`/api/devices/${device.id}/alerts`, { dateTime: ago(1), alertName: 'LowBattery' })
  await until('the first is sent', () => mailbox.mails.some((mail) => mail.includes('Chatterbox')))
  await api.post(`/api/devices/${device.id}/alerts`, { dateTime: ago(0), alertName: 'SpeedLimit' })
  await page.getByText('Limit reached.').waitFor()
  await page.getByText('1 of 1').waitFor()
  await page.getByRole('tab', { name: 'Notifications' }).click()
  await page.getByText('has reached its daily limit').first().waitFor()
  assert.equal(mailbox.mails.filter((mail) => /To: .*ana@example\.com/.test(mail)).length, 1)
})

test('an expired device is shown as such and reactivated with one click', async ({ page, api, server }) => {
  const device = await api.device('Old buoy')
  const expired = { limits: { expires: true, expirationDate: '2020-01-01' } }
  await api.patch(`/api/devices/${device.id}`, expired)
  await page.goto(`${server.url}/devices/${device.id}`)
  await page.getByText('This device has expired').waitFor()
  await page.getByRole('button', { name: 'Reactivate without expiry' }).click()
  await page.getByText('This device has expired').waitFor({ state: 'detached' })
  assert.equal((await api.get(`/api/devices/${device.id}`)).device.state, 'active')
})

test('a user of one group sees no other devices', async ({ page, api, server }) => {
  const mine = await api.device('Mine to see')
  await api.device('Not for them')
  const group = await api.post('/api/groups', { name: 'Theirs', devices: [mine.id] })
  const user = { name: 'Scoped', email: 'scoped@example.com', country: 'ES', timeZone: 'Europe/Madrid', group: group.id }
  const password = 'a long enough password 7'
  await api.post('/api/users', { ...user, password })
  await page.goto(server.url)
  await page.getByLabel('E-mail').fill(user.email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  const rows = page.getByRole('list', { name: 'Devices' }).getByRole('listitem')
  await rows.first().waitFor()
  assert.deepEqual(await rows.locator('.name').allTextContents(), ['Mine to see'])
  await api.device('Made later')
  await api.locate(mine.id, 1, 1, { speed: 17 })
  await rows.getByText('17 km/h').waitFor()
  assert.equal(await page.getByText('Made later').count(), 0)
  assert.equal(await page.getByRole('link', { name: 'Account' }).count(), 0)
}, { signedIn: false })

test('a new API key invalidates the old one and its token', async ({ page, server }) => {
  const token = async (apiKey) => {
    const body = JSON.stringify({ userName: server.owner.email, apiKey })
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${server.url}/api/Auth/Token`, { method: 'POST', headers, body })).json()
  }
  const read = async (bearer) =>
    (await fetch(`${server.url}/api/devices`, { headers: { authorization: `Bearer ${bearer}` } })).status
  await page.goto(`${server.url}/developer`)
  await page.getByRole('button', { name: 'Activate the API' }).click()
  const shown = page.getByRole('group', { name: 'API key' }).locator('pre')
  const first = await shown.textContent()
  const { token: old } = await token(first.trim())
  assert.equal(await read(old), 200)
  await page.getByRole('button', { name: 'Create a new key' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Create a new key' }).click()
  await until('another key is shown', async () => (await shown.textContent()) !== first)
  await until('the old token is refused', async () => (await read(old)) === 401)
  assert.equal((await token(first.trim())).success, false)
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
  assert.ok(!kept.includes(first.trim()))
})

test('a phone shows the map, the list and the navigation', async ({ page, api }) => {
  const device = await api.device('In the pocket')
  await api.locate(device.id, 42, -8, { speed: 5 })
  await page.getByRole('searchbox').fill('pocket')
  await page.getByRole('listitem').filter({ hasText: 'In the pocket' }).getByRole('link').click()
  await page.getByRole('heading', { name: 'In the pocket' }).waitFor()
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
}, { viewport: phone, hasTouch: true })
