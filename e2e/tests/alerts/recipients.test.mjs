// Who is notified: exactly the recipients in a rule's summary get its alerts. An alert is acknowledged once even from
// two tabs, and people without an account acknowledge by the link in their mail.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { visit } from '../../lib/browser.mjs'
import { openMailbox } from '../../lib/mailbox.mjs'
import { until } from '../../lib/pixels.mjs'
import { suite } from '../../lib/suite.mjs'

const mailbox = await openMailbox()
after(() => mailbox.close())
const { test } = suite(mailbox.settings)
const now = () => new Date().toISOString()

/** The addresses of the mails that name a device, sorted. */
const addressees = (device) =>
  mailbox.mails
    .filter((mail) => mail.includes(device))
    .map((mail) => /^To: .*?([\w.]+@[\w.]+)/m.exec(mail)?.[1])
    .sort()

/** The text of a mail without the encoding of its lines. */
const plain = (mail) =>
  mail.replace(/=\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)))

test('exactly the recipients in the summary of a rule are notified', async ({ page, api, server }) => {
  const device = await api.device('Nightjar')
  const other = await api.device('Bystander')
  await api.post('/api/contactGroups', {
    name: 'Night watch',
    contacts: [{ channel: 'email', address: 'watch@example.com', name: 'Watch' }]
  })
  await api.put('/api/account/alertRouting', {
    recipients: [{ channel: 'email', address: 'always@example.com', name: 'Always' }]
  })
  await page.goto(`${server.url}/rules/new`)
  await page.getByLabel('Name', { exact: true }).fill('Too fast at night')
  await page.getByLabel('Type', { exact: true }).selectOption({ label: 'Speed' })
  await page.getByLabel(/^Limit|km\/h/).first().fill('90')
  await page.getByRole('button', { name: 'Add recipient' }).click()
  await page.getByLabel('E-mail address').fill('ana@example.com')
  await page.getByRole('combobox', { name: 'Add a contact group' }).selectOption({ label: 'Night watch' })
  const words = page.getByRole('status', { name: 'Summary of who is notified' })
  await words.getByText('ana@example.com by e-mail and Night watch (contact group)').waitFor()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const rule = await until('the rule is stored', async () => (await api.get('/api/rules')).rules[0])

  await page.goto(`${server.url}/rules/${rule.id}`)
  const notified = page.getByRole('region', { name: 'Who is notified' })
  for (const address of ['ana@example.com', 'watch@example.com', 'always@example.com']) {
    await notified.getByText(address).first().waitFor()
  }
  await api.locate(device.id, 42, -8, { speed: 120 })
  await until('all recipients are notified', () => addressees('Nightjar').length >= 3)
  await api.post(`/api/devices/${other.id}/alerts`, { dateTime: now(), alertName: 'LowBattery' })
  await until('one recipient is notified of the other device', () => addressees('Bystander').length >= 1)
  assert.deepEqual(addressees('Nightjar'), ['always@example.com', 'ana@example.com', 'watch@example.com'])
  assert.deepEqual(addressees('Bystander'), ['always@example.com'])

  await notified.getByRole('button', { name: 'Send a test notification' }).click()
  await page.getByText('3 test notifications are being sent.').waitFor()
})

test('a device without recipients says that nobody would be notified', async ({ page, api, server }) => {
  const device = await api.device('Forgotten')
  await api.put(`/api/devices/${device.id}/alertRouting`, { recipients: [] })
  await page.goto(`${server.url}/devices/${device.id}`)
  await page.getByRole('tab', { name: 'Details' }).click()
  await page.getByText('Nobody would be notified of a critical alert.').waitFor()
})

test('an alert is acknowledged once by two tabs at once', async ({ page, api, server, context }) => {
  const device = await api.device('Two tabs')
  const { ids } = await api.post(`/api/devices/${device.id}/alerts`, { dateTime: now(), alertName: 'Vibration' })
  const second = await context.newPage()
  const acknowledge = (tab) => tab.locator('aside, main').getByRole('button', { name: 'Acknowledge', exact: true }).first()
  for (const tab of [page, second]) {
    await tab.goto(`${server.url}/alerts/${ids[0]}`)
    await acknowledge(tab).waitFor()
  }
  await Promise.all([page, second].map((tab) => acknowledge(tab).click()))
  for (const tab of [page, second]) await tab.getByText('Acknowledged').first().waitFor()
  const { notes } = await api.get(`/api/alerts/${ids[0]}/notes`)
  assert.deepEqual(notes, [])
  const { alert } = await api.get(`/api/alerts/${ids[0]}`)
  assert.ok(alert.acknowledgedBy)
})

test('the link in a mail acknowledges without an account', async ({ page, api, server, browser }) => {
  const device = await api.device('Far away')
  await api.put(`/api/devices/${device.id}/alertRouting`, {
    recipients: [{ channel: 'email', address: 'eva@example.com', name: 'Eva' }],
    escalation: { steps: [{ afterMinutes: 60, recipients: [{ channel: 'email', address: 'boss@example.com' }] }] }
  })
  const { ids } = await api.post(`/api/devices/${device.id}/alerts`, {
    dateTime: now(),
    alertName: 'SOSButton',
    latitude: 42.24061,
    longitude: -8.72071
  })
  const mail = await until('Eva is notified', () => mailbox.mails.find((text) => /To: .*eva@example/.test(text)))
  const link = /\/a\/[\w-]+/.exec(plain(mail))[0]
  assert.match(plain(mail), new RegExp(`/alerts/${ids[0]}`))
  const stranger = await visit(browser, server)
  await stranger.page.goto(server.url + link)
  await stranger.page.getByText('Nobody has acknowledged this alert yet.').waitFor()
  assert.equal((await api.get(`/api/alerts/${ids[0]}`)).alert.acknowledgedAt, null, 'looking changes nothing')
  await stranger.page.getByLabel('Note (optional)').fill('Calling the skipper')
  await stranger.page.getByRole('button', { name: 'Acknowledge' }).click()
  await stranger.page.getByText(/Eva acknowledged this alert/).waitFor()
  await stranger.context.close()
  assert.deepEqual(stranger.wrong, [])

  await page.goto(`${server.url}/alerts/${ids[0]}`)
  await page.getByText('by Eva, using the link in a notification').first().waitFor()
  await page.getByText('Calling the skipper').waitFor()
})

test('a forgotten password is reset by a link in a mail, which also signs in', async ({ page, api, server }) => {
  await api.post('/api/users', { name: 'Leo', email: 'leo@example.com', country: 'ES', timeZone: 'Europe/Madrid' })
  await page.goto(server.url)
  await page.getByLabel('E-mail').fill('leo@example.com')
  await page.getByRole('button', { name: 'I forgot my password' }).click()
  await page.getByText('If a user has this address, an e-mail with a link is on its way.').waitFor()
  const mail = await until('the mail is there', () => mailbox.mails.find((text) => /To: .*leo@example/.test(text)))
  const token = /password\?language=es#token=([\w-]+)/.exec(plain(mail))[1]
  await page.goto(`${server.url}/password#token=${token}`)
  await page.getByLabel('New password').fill('nine lives of a harbour cat')
  await page.getByLabel('Repeat the password').fill('nine lives of a harbour cat')
  await page.getByRole('button', { name: 'Set the password' }).click()
  await page.getByRole('navigation', { name: 'Main navigation' }).waitFor()
}, { signedIn: false })
