// Browser notifications and sounds of alerts: the page asks for permission only when a user switches them on.
import assert from 'node:assert/strict'
import { until } from '../../lib/pixels.mjs'
import { suite } from '../../lib/suite.mjs'

const { test } = suite()
const now = () => new Date().toISOString()

/** Records permission requests, notifications and notes of a page; `permission` is the answer to a request. */
function record(permission) {
  globalThis.recorded = { asked: 0, messages: [], notes: [] }
  const { recorded } = globalThis
  globalThis.Notification = class {
    static permission = 'default'
    static async requestPermission() {
      recorded.asked++
      this.permission = permission
      return permission
    }
    constructor(title, options) {
      recorded.messages.push({ title, body: options.body, stays: options.requireInteraction })
    }
    close() {}
  }
  const Real = globalThis.OscillatorNode
  globalThis.OscillatorNode = class extends Real {
    constructor(context, options) {
      super(context, options)
      recorded.notes.push(options.frequency)
    }
  }
}

const recordedOn = (page) => page.evaluate(() => globalThis.recorded)

test('by default no permission is requested and nothing is shown or played', async ({ page, api, server }) => {
  await page.addInitScript(record, 'granted')
  const device = await api.device('Quiet one')
  await page.goto(`${server.url}/alerts`)
  await page.getByRole('button', { name: 'Show a browser notification' }).waitFor()
  await api.post(`/api/devices/${device.id}/alerts`, { dateTime: now(), alertName: 'LowBattery' })
  await page.getByRole('listitem').filter({ hasText: 'Quiet one' }).waitFor()
  assert.deepEqual(await recordedOn(page), { asked: 0, messages: [], notes: [] })
})

test('an alert shows a browser notification and plays a tone, also on another page', async ({ page, api, server }) => {
  await page.addInitScript(record, 'granted')
  const device = await api.device('Loud one')
  await page.goto(`${server.url}/alerts`)
  const message = page.getByRole('button', { name: 'Show a browser notification' })
  await message.click()
  await until('it is on', async () => (await message.getAttribute('aria-pressed')) === 'true')
  await page.getByRole('button', { name: 'Play a sound when' }).click()
  assert.equal((await recordedOn(page)).asked, 1)
  // Switching the sound on plays a tone.
  await until('a first tone', async () => (await recordedOn(page)).notes.length > 0)

  await page.getByRole('link', { name: 'Settings' }).click()
  const { length } = (await recordedOn(page)).notes
  await api.post(`/api/devices/${device.id}/alerts`, { dateTime: now(), alertName: 'LowBattery', text: 'At 14 %' })
  // The alarm of a critical alert sounds even right after another tone.
  await api.post(`/api/devices/${device.id}/alerts`, { dateTime: now(), alertName: 'SOSButton', critical: true })
  const { messages } = await until('both notifications are shown', async () => {
    const recorded = await recordedOn(page)
    return recorded.messages.length === 2 && recorded
  })
  assert.deepEqual(messages.map(({ body, stays }) => [body, stays]), [['At 14 %', false], ['Critical', true]])
  assert.match(messages[0].title, /Loud one/)
  // The alarm goes up and down until it is acknowledged.
  await until('the alarm', async () => {
    const { notes } = await recordedOn(page)
    return notes.slice(length).filter((frequency) => frequency === 988).length >= 3
  })
})

test('after a refused permission the page says what to do, and nothing is switched on', async ({ page, server }) => {
  await page.addInitScript(record, 'denied')
  await page.goto(`${server.url}/alerts`)
  const message = page.getByRole('button', { name: 'Show a browser notification' })
  await message.click()
  await page.getByText('The browser blocks notifications').waitFor()
  assert.equal(await message.getAttribute('aria-pressed'), 'false')
})

test('with permission, a real browser notification is created', async ({ page, api, context, server }) => {
  await context.grantPermissions(['notifications'], { origin: server.url })
  await page.addInitScript(() => {
    globalThis.made = []
    const Real = globalThis.Notification
    globalThis.Notification = new Proxy(Real, {
      construct(target, given) {
        const message = new target(...given)
        globalThis.made.push({ title: message.title, tag: message.tag })
        return message
      }
    })
  })
  const device = await api.device('Real one')
  await page.goto(`${server.url}/alerts`)
  await page.getByRole('button', { name: 'Show a browser notification' }).click()
  await api.post(`/api/devices/${device.id}/alerts`, { dateTime: now(), alertName: 'SOSButton', critical: true })
  const [made] = await until('the notification is created', async () => {
    const all = await page.evaluate(() => globalThis.made)
    return all.length > 0 && all
  })
  const { alerts: [alert] } = await api.get(`/api/devices/${device.id}/alerts`)
  assert.match(made.title, /Real one/)
  assert.equal(made.tag, alert.id)
})
