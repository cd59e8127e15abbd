// Being called to an alert: the browser is asked for leave only when somebody wants it, and then a message and a tone come.
import assert from 'node:assert/strict'
import { until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'

const { test } = suite()
const now = () => new Date().toISOString()

/** Notes what the page asks of the browser and what it would show and play. */
function listen(leave) {
  globalThis.heard = { asked: 0, messages: [], notes: [] }
  const { heard } = globalThis
  globalThis.Notification = class {
    static permission = 'default'
    static async requestPermission() {
      heard.asked++
      this.permission = leave
      return leave
    }
    constructor(title, options) {
      heard.messages.push({ title, body: options.body, stays: options.requireInteraction })
    }
    close() {}
  }
  const Real = globalThis.OscillatorNode
  globalThis.OscillatorNode = class extends Real {
    constructor(context, options) {
      super(context, options)
      heard.notes.push(options.frequency)
    }
  }
}

const heardOn = (page) => page.evaluate(() => globalThis.heard)

test('nothing is asked, shown or played unless somebody wants it', async ({ page, api, server }) => {
  await page.addInitScript(listen, 'granted')
  const device = await api.device('Quiet one')
  await page.goto(`${server.url}/alerts`)
  await page.getByRole('button', { name: 'Show a browser notification' }).waitFor()
  await api.post(`/api/devices/${device.id}/alerts`, { dateTime: now(), alertName: 'LowBattery' })
  await page.getByRole('listitem').filter({ hasText: 'Quiet one' }).waitFor()
  assert.deepEqual(await heardOn(page), { asked: 0, messages: [], notes: [] })
})

test('an alert is told by the browser and by a tone, also on another page', async ({ page, api, server }) => {
  await page.addInitScript(listen, 'granted')
  const device = await api.device('Loud one')
  await page.goto(`${server.url}/alerts`)
  const message = page.getByRole('button', { name: 'Show a browser notification' })
  await message.click()
  await until('it is on', async () => (await message.getAttribute('aria-pressed')) === 'true')
  await page.getByRole('button', { name: 'Play a sound when' }).click()
  assert.equal((await heardOn(page)).asked, 1)
  // The tone that is heard when it is switched on.
  await until('a first tone', async () => (await heardOn(page)).notes.length > 0)

  await page.getByRole('link', { name: 'Settings' }).click()
  const { length } = (await heardOn(page)).notes
  await api.post(`/api/devices/${device.id}/alerts`, { dateTime: now(), alertName: 'LowBattery', text: 'At 14 %' })
  // What cannot wait is heard though another tone has just been.
  await api.post(`/api/devices/${device.id}/alerts`, { dateTime: now(), alertName: 'SOSButton', critical: true })
  const { messages } = await until('both are told', async () => {
    const heard = await heardOn(page)
    return heard.messages.length === 2 && heard
  })
  assert.deepEqual(messages.map(({ body, stays }) => [body, stays]), [['At 14 %', false], ['Critical', true]])
  assert.match(messages[0].title, /Loud one/)
  // The alarm goes up and down until it is acknowledged.
  await until('the alarm', async () => {
    const { notes } = await heardOn(page)
    return notes.slice(length).filter((frequency) => frequency === 988).length >= 3
  })
})

test('whoever refuses is told what to do, and nothing is switched on', async ({ page, server }) => {
  await page.addInitScript(listen, 'denied')
  await page.goto(`${server.url}/alerts`)
  const message = page.getByRole('button', { name: 'Show a browser notification' })
  await message.click()
  await page.getByText('The browser blocks notifications').waitFor()
  assert.equal(await message.getAttribute('aria-pressed'), 'false')
})

test("the browser's own message is made with the leave that was given", async ({ page, api, context, server }) => {
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
  const [made] = await until('it is made', async () => {
    const all = await page.evaluate(() => globalThis.made)
    return all.length > 0 && all
  })
  const { alerts: [alert] } = await api.get(`/api/devices/${device.id}/alerts`)
  assert.match(made.title, /Real one/)
  assert.equal(made.tag, alert.id)
})
