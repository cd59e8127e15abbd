// An SOS in a large fleet: the page is as quick as in a small one, and the marker lies above the clusters.
import assert from 'node:assert/strict'
import { phone } from '../../lib/browser.mjs'
import { until } from '../../lib/pixels.mjs'
import { suite } from '../../lib/suite.mjs'

const count = 2_500
const world = suite({ PERIGEE_LIMITS__REQUESTS_PER_SECOND: '1000000', PERIGEE_LIMITS__BURST: '1000000' })
let devices

/** Makes the fleet, once for all tests. */
async function fleet({ api, server }) {
  if (devices) return devices
  const { accounts } = await server.run('account', 'list')
  await server.run('account', 'set', '--account', accounts[0].accountId, '--licenses', String(count + 10))
  devices = []
  const numbers = Array.from({ length: count }, (_, index) => index)
  const work = async () => {
    for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
      const device = await api.device(`Fleet ${number}`)
      await api.locate(device.id, 36 + (number % 50) / 10, -9 + Math.floor(number / 50) / 10)
      devices.push(device)
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  return devices
}

/** Ends the alerts of a device, until the page shows none. */
async function endAll(api, device, banner) {
  const { alerts } = await api.get(`/api/devices/${device.id}/alerts`)
  for (const { id } of alerts) await api.post(`/api/alerts/${id}/end`)
  await banner.waitFor({ state: 'detached' })
}

for (const [what, options] of [['desktop', {}], ['phone', { viewport: phone, hasTouch: true, isMobile: true }]]) {
  world.test(
    `with ${count} devices an SOS is on the page in less than a second, on a ${what}`,
    async ({ page, api, server }) => {
      const all = await fleet({ api, server })
      await page.goto(`${server.url}/`)
      await page.getByRole('button', { name: 'Play the alarm' }).click()
      // On a phone the filters, and with them the count, are folded.
      const counted = page.getByText(String(count)).or(page.getByText(count.toLocaleString('en'))).first()
      await counted.waitFor({ state: 'attached' })
      await page.getByRole('button', { name: 'Show all' }).waitFor()
      const banner = page.getByRole('region', { name: 'Critical alerts' })
      let device
      let delay = Infinity
      // The best of three: other work on the machine may delay one.
      for (let attempt = 0; attempt < 3 && delay >= 1_000; attempt++) {
        device = all[(what === 'phone' ? 700 : 1_400) + attempt]
        await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)))
        const begun = performance.now()
        await api.post(`/api/devices/${device.id}/alerts`, { dateTime: new Date().toISOString(), alertName: 'SOSButton' })
        await banner.getByRole('link', { name: `SOS · ${device.name}`, exact: true }).waitFor()
        delay = performance.now() - begun
        if (delay >= 1_000) await endAll(api, device, banner)
      }
      assert.ok(delay < 1_000, `the banner took ${Math.round(delay)} ms`)
      console.log(`# ${what}: banner after ${Math.round(delay)} ms with ${count} devices`)
      const first = page.getByRole('list', { name: 'Devices' }).getByRole('listitem').first()
      await until('it is pinned', async () => (await first.innerText()).includes(device.name))
      const marker = page.getByRole('button', { name: `SOS · ${device.name}`, exact: true })
      await marker.waitFor()
      // Nothing covers it: it can be clicked.
      await marker.click()
      await page.waitForURL(`**/devices/${device.id}`)
      await banner.getByRole('button', { name: 'Acknowledge' }).click()
      await banner.getByText('acknowledged, not ended').waitFor()
      await endAll(api, device, banner)
    },
    { ...options, timeout: 300_000 }
  )
}
