// Where positions come from: a phone that scans a code, an unknown tracker, and a template that is previewed before it is used.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { desktop, phone } from '../lib/browser.mjs'
import { complete, overflow, serious } from '../lib/page.mjs'
import { middleOf, pixelsOf, until } from '../lib/pixels.mjs'
import { binary } from '../lib/server.mjs'
import { suite } from '../lib/suite.mjs'

const config = '[gateways.listen]\ngt06 = "127.0.0.1:0"\n'
const { test } = suite({ config, RUST_LOG: 'warn,perigee_server::listen=info' })
const pictures = new URL('../../target/e2e/', import.meta.url)
await mkdir(pictures, { recursive: true })
const picture = (page, name) => page.screenshot({ path: new URL(`${name}.png`, pictures).pathname })

/** Posts a message to a gateway: the path is that of its URL, the host that of the test server. */
async function post(server, url, query, body) {
  const target = server.url + new URL(url).pathname + (query ? `?${query}` : '')
  const init = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}
  const answer = await fetch(target, { method: 'POST', ...init })
  assert.equal(answer.status, 200)
}

/** A message of an Iridium modem as Cloudloop sends it. */
function lingo(payload, seconds) {
  const at = new Date(seconds * 1000)
  const when = {
    year: at.getUTCFullYear(),
    month: at.getUTCMonth() + 1,
    day: at.getUTCDate(),
    hour: at.getUTCHours(),
    minute: at.getUTCMinutes(),
    second: at.getUTCSeconds()
  }
  const imei = '300234063904190'
  return {
    id: `e2e-${seconds}`,
    receivedAt: when,
    identity: { hardware: { imei } },
    sbd: { imei, momsn: 75, sessionAt: when, status: 'SESSION_STATUS_OK' },
    message: payload.toString('base64')
  }
}

/** The port to which trackers connect. */
const trackerPort = (server) =>
  until('the server logs on which port it listens for trackers', () => {
    const pattern = /listening for trackers over TCP.*127\.0\.0\.1:(\d+)/
    const found = server.log.map((line) => pattern.exec(line)).find(Boolean)
    return found && Number(found[1])
  })

/** A simulated tracker over a real socket, one record a second. */
const simulate = (port, identifier, seconds) =>
  spawn(binary, ['simulate', '--protocol', 'gt06', '--to', `127.0.0.1:${port}`, '--identifier', identifier, '--every', '1', '--seconds', String(seconds)])

test('a phone opens the link of the QR page and is on the map', async ({ page, context, browser, server }) => {
  await page.goto(`${server.url}/sources`)
  await page.getByRole('button', { name: 'Add phone' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Whose phone is it?').fill('Ana')
  await dialog.getByRole('button', { name: 'Next: choose the app' }).click()
  await dialog.getByLabel('OwnTracks').check()
  await dialog.getByRole('button', { name: 'Show the code' }).click()
  await dialog.getByRole('img', { name: 'QR code for the phone of Ana' }).waitFor()
  const link = (await dialog.getByRole('group', { name: 'Link for the phone' }).locator('pre').textContent()).trim()
  await picture(page, 'phone-code')
  assert.deepEqual(await serious(page), [])

  const place = { latitude: 42.2406, longitude: -8.7507 }
  const theirs = await browser.newContext({ viewport: phone, hasTouch: true, locale: 'en', geolocation: place, permissions: ['geolocation'] })
  const opened = await theirs.newPage()
  await opened.goto(link)
  await opened.getByRole('heading', { name: 'Track this phone as Ana' }).waitFor()
  assert.match(await opened.getByRole('link', { name: 'Set up OwnTracks' }).getAttribute('href'), /^owntracks:\/\/\/config\?inline=/)
  assert.deepEqual(await serious(opened), [])
  await picture(opened, 'phone-page')
  await opened.getByRole('button', { name: 'Send my position now' }).click()
  await opened.getByText('Your position was received.').waitFor()
  await theirs.close()

  await dialog.getByText('Ana is on the map.').waitFor()
  await dialog.getByRole('link', { name: 'Show on the map' }).click()
  await page.getByRole('heading', { name: 'Ana' }).waitFor()
  const middle = await middleOf(page)
  await until('the dot is drawn', () => pixelsOf(page, middle, '#14824a'))
  assert.equal((await context.cookies()).filter(({ value }) => link.includes(value)).length, 0)
})

test('an unknown device is claimed from its raw message', async ({ page, api, server }) => {
  const { url } = await api.post('/api/gateways', { feed: 'osmand', name: 'Rally phones' })
  const now = Math.floor(Date.now() / 1000)
  await post(server, url, `id=rally-7&lat=43.36&lon=-8.41&timestamp=${now}&speed=10`)
  await page.goto(`${server.url}/sources/messages?result=unknownDevice`)
  await page.getByRole('list', { name: 'Raw messages' }).getByRole('link', { name: /rally-7/ }).click()
  await page.getByText('No device has the identifier in this message.').waitFor()
  await page.getByText('lat=43.36').first().waitFor()
  await picture(page, 'raw-message')
  assert.deepEqual(await serious(page), [])
  await page.getByRole('button', { name: 'Claim' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name of the new device').fill('Rally 7')
  await dialog.getByRole('button', { name: 'Claim device' }).click()
  // The server itself stores the kept messages of a claimed device, possibly before the page requests it.
  await page.getByText(/The message was decoded, and its contents are stored|The contents of the message were already stored/).waitFor()
  await page.getByRole('link', { name: 'Rally 7' }).click()
  await page.getByRole('heading', { name: 'Rally 7' }).waitFor()
  const middle = await middleOf(page)
  await until('the dot is drawn', () => pixelsOf(page, middle, '#14824a'))
})

test('an unknown tracker appears, is claimed, and its dot moves', async ({ page, api, server }) => {
  const port = await trackerPort(server)
  await page.goto(`${server.url}/sources/heard`)
  await page.getByText('Switch the tracker on and wait').waitFor()
  const tracker = connect(port, '127.0.0.1')
  await once(tracker, 'connect')
  tracker.write(Buffer.from('78780d01086471700328358100093f040d0a', 'hex'))
  const row = page.getByRole('list', { name: 'Unknown devices' }).getByRole('listitem').filter({ hasText: '864717003283581' })
  await row.getByText('GT06').waitFor()
  await row.getByRole('button', { name: 'Last message' }).click()
  await picture(page, 'heard')
  assert.deepEqual(await serious(page), [])
  await row.getByRole('button', { name: 'Claim' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name of the new device').fill('Van 7')
  await dialog.getByRole('button', { name: 'Claim device' }).click()
  await page.getByRole('heading', { name: 'Van 7' }).waitFor()
  tracker.destroy()
  // The tracker reconnects as trackers do: a new connection, the login, the position.
  const again = connect(port, '127.0.0.1')
  await once(again, 'connect')
  again.write(Buffer.from('78780d01086471700328358100093f040d0a', 'hex'))
  await once(again, 'data')
  again.write(Buffer.from('78781f12180a040f382ccf0342a34c03427ba823d47a025a0256b900e375047595260d0a', 'hex'))
  const id = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1))
  await until('the position is stored', async () => (await api.get(`/api/devices/${id}/locations?from=2024-01-01T00:00:00Z`)).locations.length === 1)
  again.destroy()
  await page.getByText('35 km/h').first().waitFor()
})

test('a command goes from waiting to answered', async ({ page, api, server }) => {
  const port = await trackerPort(server)
  const identifier = '356938035643810'
  const { id } = await api.device('Truck 9', { identifier })
  // One connection, so that the server knows the protocol of the tracker.
  await once(simulate(port, identifier, 1), 'exit')
  await page.goto(`${server.url}/devices/${id}`)
  await page.getByRole('button', { name: 'Command', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Send a command' })
  await dialog.getByLabel('Command').selectOption({ label: 'Report the position now' })
  await dialog.getByRole('button', { name: 'Send command' }).click()
  const row = dialog.getByRole('listitem').filter({ hasText: 'Report the position now' })
  await row.getByText('Waiting').waitFor()
  const tracker = simulate(port, identifier, 600)
  await row.getByText('Answered').waitFor()
  await picture(page, 'commands')
  const exited = once(tracker, 'exit')
  tracker.kill()
  await exited
})

test('model and time zone of a tracker are set in its form', async ({ page, api, server }) => {
  const port = await trackerPort(server)
  const { id } = await api.device('Clone 3', { identifier: '356938035643828' })
  await once(simulate(port, '356938035643828', 1), 'exit')
  await page.goto(`${server.url}/devices/${id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Decoding options').click()
  await dialog.getByLabel("Time zone of the tracker's clock, if it sends local time").selectOption('480')
  await dialog.getByLabel('Model').fill('Concox GT06N')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'hidden' })
  const changed = (await api.get(`/api/devices/${id}`)).device
  assert.deepEqual([changed.model, changed.decoding], ['Concox GT06N', { timeZoneMinutes: 480 }])
})

test('a mapping is tried on a stored message before it is used', async ({ page, api, server }) => {
  const { url } = await api.post('/api/gateways', { feed: 'json', name: 'Buoys' })
  const time = Math.floor(Date.now() / 1000)
  await post(server, url, '', { unit: 'buoy-3', where: { y: 41.1, x: -8.9 }, at: time })
  await page.goto(`${server.url}/sources/try`)
  await page.getByLabel('Decode with').selectOption('mapping')
  const editor = page.getByRole('textbox', { name: 'JSON mapping' })
  await editor.fill('{"identifiers": ["/unit"], "fields": {"latitude": "/where/y"')
  await page.getByText('This is not valid JSON').waitFor()
  await editor.fill('{"identifiers": ["/unit"], "fields": {"latitude": 5}}')
  await page.getByText(/must be an object/).waitFor()
  await editor.fill('{"identifiers": ["/unit"], "fields": {"latitude": "/where/y", "longitude": "/where/x", "time": "/at"}}')
  await page.getByText('41.1', { exact: true }).waitFor()
  await page.getByText('buoy-3', { exact: true }).waitFor()
  await picture(page, 'mapping')
  assert.deepEqual(await serious(page), [])
  await page.getByRole('button', { name: 'Use in a new gateway' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('Buoys with a mapping')
  await dialog.getByRole('button', { name: 'Create gateway' }).click()
  const address = (await dialog.getByRole('group', { name: 'Address to enter' }).locator('pre').textContent()).trim()
  await picture(page, 'gateway-made')
  await api.device('Buoy 3', { identifier: 'buoy-3' })
  await post(server, address, '', { unit: 'buoy-3', where: { y: 41.2, x: -8.9 }, at: time + 5 })
  const { rawMessages } = await api.get('/api/rawMessages?source=json')
  assert.equal(rawMessages[0].result, 'decoded')
  // A payload template is tried on the bytes of a stored payload in the same way.
  const cloudloop = await api.post('/api/gateways', { feed: 'cloudloop', name: 'Modem' })
  const payload = Buffer.alloc(13)
  payload.writeUInt32BE(time, 0)
  payload.writeInt32BE(423000000, 4)
  payload.writeInt32BE(-87000000, 8)
  payload.writeUInt8(12, 12)
  await post(server, cloudloop.url, '', lingo(payload, time))
  await page.goto(`${server.url}/sources/try`)
  await page.getByText('42.3', { exact: true }).waitFor()
  await page.getByText('-8.7', { exact: true }).waitFor()
}, { expected: [/status of 400/] })

test('what a tracker sent is decoded field by field', async ({ page, server }) => {
  await page.goto(`${server.url}/sources/decode`)
  await page.getByRole('button', { name: 'Show an example' }).click()
  await page.getByText('864717003283581').waitFor()
  await page.getByText('2024-10-04T15:56:44Z').waitFor()
  await picture(page, 'decode')
  assert.deepEqual(await serious(page), [])
  await page.getByLabel('Messages, one per line').fill('rubbish')
  await page.getByText('the first bytes do not match any protocol').waitFor()
})

test('an owner of a satellite device is led to an address', async ({ page, server }) => {
  await page.goto(`${server.url}/welcome`)
  await page.getByText('Garmin inReach').click()
  await page.getByLabel('Name').fill('Sea Otter')
  await page.getByLabel('IMEI (optional)').fill('300234010753370')
  await page.getByRole('button', { name: 'Add device' }).click()
  await page.getByRole('button', { name: 'Create the address' }).click()
  await page.getByText('Portal Connect').first().waitFor()
  const address = (await page.getByRole('group', { name: 'Address to enter' }).locator('pre').textContent()).trim()
  assert.match(address, /\/gateways\/garmin\//)
  const event = { imei: '300234010753370', messageCode: 0, timeStamp: Date.now(), point: { latitude: 42.1, longitude: -8.9, altitude: 0, gpsFix: 2, course: 0, speed: 9 } }
  await post(server, address, '', { Version: '2.0', Events: [event] })
  await page.getByText('Sea Otter is on the map.').waitFor()
  await picture(page, 'welcome-inreach')
  assert.deepEqual(await serious(page), [])
})

test('an operator sees whose messages use the storage', async ({ page, api, server }) => {
  await server.run('user', 'set', '--email', server.owner.email, '--operator')
  const { url } = await api.post('/api/gateways', { feed: 'osmand', name: 'Delivery phones' })
  await post(server, url, 'id=delivery-1&lat=43.36&lon=-8.41')
  // The server refuses the request until it has reloaded the user.
  const storageUsed = () => api.get('/api/operator/storage').catch(() => ({ rawMessages: [] }))
  await until('the message is counted', async () => (await storageUsed()).rawMessages.length > 0)
  await page.goto(`${server.url}/operator`)
  const storage = page.getByRole('region', { name: 'Storage used by raw messages' })
  await storage.getByRole('row', { name: /^My fleet Gateway gtw_\w+ \d+ / }).first().waitFor()
  await storage.scrollIntoViewIfNeeded()
  await picture(page, 'operator-storage')
  assert.ok((await overflow(page)) <= 0)
  assert.deepEqual(await serious(page), [])
})

for (const [look, options] of Object.entries({
  desktop: { viewport: desktop, colorScheme: 'light' },
  phone: { viewport: phone, colorScheme: 'dark', hasTouch: true }
})) {
  test(`the pages of sources fit and are accessible: ${look}`, async ({ page, api, server }) => {
    const { rawMessages } = await api.get('/api/rawMessages?limit=1')
    const paths = ['', '?add=satellite', '/heard', '/messages', `/messages/${rawMessages[0].id}`, '/decode', '/try']
    for (const path of paths) {
      await page.goto(`${server.url}/sources${path}`)
      await complete(page)
      await picture(page, `sources-${look}${path.replace(/msg_\w+/, 'one').replace(/\W+/g, '-')}`)
      assert.ok((await overflow(page)) <= 0, `${path} is too wide`)
      assert.deepEqual(await serious(page), [], path)
    }
  }, options)
}
