// Notifications in a browser, in a real Chromium with the real service worker. Chromium cannot be given another push
// service than its maker's. So the page subscribes to one of our own, which receives what the server really sends and
// decrypts it with http_ece; the message is then handed to the service worker by the DevTools protocol, as the browser
// itself would. A headless browser draws no notification, so the tap on its button is an event of the service worker.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { phone } from '../lib/browser.mjs'
import { serious } from '../lib/page.mjs'
import { until } from '../lib/pixels.mjs'
import { startPushService, useService } from '../lib/pushService.mjs'
import { suite } from '../lib/suite.mjs'

const service = await startPushService()
after(() => service.stop())
const config = `
[webhooks]
allow_http = true
allow_private = true
[push]
contact = "mailto:ops@example.com"
`
const { test } = suite({ config })

/** Hands a message to the service worker of the page. */
async function deliver(context, page, origin, data) {
  const devtools = await context.newCDPSession(page)
  const registered = new Promise((resolve) => {
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const found = registrations.find(({ scopeURL }) => scopeURL.startsWith(origin))
      if (found) resolve(found.registrationId)
    })
  })
  await devtools.send('ServiceWorker.enable')
  const registrationId = await registered
  await devtools.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data })
}

for (const [name, options] of [['desktop', {}], ['phone', { viewport: phone, hasTouch: true }]]) {
  test(`a browser is subscribed, and its notification acknowledges an alert, on a ${name}`, async ({ page, context, api, server }) => {
    service.received.length = 0
    await context.grantPermissions(['notifications'], { origin: server.url })
    await useService(page, service)
    await page.goto(`${server.url}/settings`)
    await page.evaluate(() => navigator.serviceWorker.ready)
    const toggle = page.getByRole('switch', { name: 'Notifications on this browser' })
    await toggle.click()
    await page.getByText('This browser shows notifications now.').waitFor()
    assert.equal(await toggle.getAttribute('aria-checked'), 'true')
    await page.getByText('this browser', { exact: true }).waitFor()
    assert.deepEqual(await serious(page), [])

    await page.getByRole('button', { name: /^Edit Chrome/ }).click()
    const form = page.getByRole('form', { name: /^Edit Chrome/ })
    await form.getByLabel('Name').fill('Bridge')
    await form.getByRole('checkbox', { name: 'Quiet hours', exact: true }).check()
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Bridge', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'Send a test' }).click()
    await until('the test arrives', () => service.received.some(({ text }) => text.includes('Test: notifications')))

    const { id: user } = (await api.get('/api/session')).user
    await api.put('/api/account/alertRouting', { recipients: [], users: [{ id: user }] })
    const device = await api.device(`Tug ${name}`)
    await api.post(`/api/devices/${device.id}/alerts`, {
      dateTime: new Date().toISOString(),
      alertName: 'SOSButton',
      latitude: 42.09,
      longitude: -8.9
    })
    const isSos = ({ text }) => text.includes(`SOS: Tug ${name}`)
    await until('the alert arrives', () => service.received.some(isSos))
    const push = service.received.find(isSos)
    assert.ok(push.bytes <= 4096)
    assert.equal(push.urgency, 'high')
    assert.equal(push.claims.sub, 'mailto:ops@example.com')
    assert.equal(push.claims.aud, service.origin)

    await deliver(context, page, server.url, push.text)
    const shown = () =>
      page.evaluate(async () => {
        const { getNotifications } = ServiceWorkerRegistration.prototype
        const all = await getNotifications.call(await navigator.serviceWorker.ready)
        return all.map(({ title, body, actions }) => ({ title, body, actions: actions.map(({ title }) => title) }))
      })
    await until('the notification is shown', async () => (await shown()).some(({ title }) => title === `SOS: Tug ${name}`))
    const [sos] = (await shown()).filter(({ title }) => title === `SOS: Tug ${name}`)
    assert.deepEqual(sos.actions, ['Acknowledge'])
    assert.match(sos.body, /Vigo/)

    const [worker] = context.serviceWorkers()
    await worker.evaluate(async (title) => {
      const notifications = await self.registration.getNotifications()
      const notification = notifications.find((one) => one.title === title)
      self.dispatchEvent(new NotificationEvent('notificationclick', { notification, action: 'acknowledge' }))
    }, `SOS: Tug ${name}`)
    const alert = JSON.parse(push.text).notification.data.alert
    await until('the alert is acknowledged', async () => (await api.get(`/api/alerts/${alert}`)).alert.acknowledgedName)
    await until('the notification says so', async () => (await shown()).some(({ body }) => body === 'Acknowledged'))

    await toggle.click()
    await page.getByText('Bridge', { exact: true }).waitFor({ state: 'detached' })
    assert.equal(await toggle.getAttribute('aria-checked'), 'false')
  }, options)
}

test('an iPhone is told to install the page first, and a refused permission is explained', async ({ page, context, browser, server, api }) => {
  await context.grantPermissions([], { origin: server.url })
  await page.goto(`${server.url}/settings`)
  await page.getByText('You blocked notifications of this page.').waitFor()
  assert.equal(await page.getByRole('switch', { name: 'Notifications on this browser' }).isDisabled(), true)
  assert.deepEqual((await api.get('/api/console')).channels.push, true)
  const agent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1'
  const iphone = await browser.newContext({ viewport: phone, hasTouch: true, locale: 'en', userAgent: agent })
  await iphone.addCookies(await context.cookies())
  const opened = await iphone.newPage()
  await opened.goto(`${server.url}/settings`)
  await opened.getByText('Choose “Add to Home Screen”.').waitFor()
  await iphone.close()
})
