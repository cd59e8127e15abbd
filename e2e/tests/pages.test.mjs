// Every page in light and dark, on a desktop and a phone: it is not wider than the window and has no serious finding of
// an accessibility check. Screenshots are kept in target/e2e.
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { desktop, phone } from '../lib/browser.mjs'
import { fill } from '../lib/fleet.mjs'
import { complete, overflow, serious } from '../lib/page.mjs'
import { pages } from '../lib/pages.mjs'
import { until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'

const world = suite()
const pictures = new URL('../../target/e2e/', import.meta.url)
await mkdir(pictures, { recursive: true })

const looks = [
  { name: 'desktop-light', viewport: desktop, colorScheme: 'light' },
  { name: 'desktop-dark', viewport: desktop, colorScheme: 'dark' },
  { name: 'phone-light', viewport: phone, colorScheme: 'light', hasTouch: true },
  { name: 'phone-dark', viewport: phone, colorScheme: 'dark', hasTouch: true }
]

/** Waits until a map, if there is one, looks the same twice; markers on it may pulse meanwhile. */
async function still(page) {
  const canvas = page.locator('canvas:visible').first()
  if ((await canvas.count()) === 0) return
  let before
  await until('the map is drawn', async () => {
    const now = (await canvas.screenshot({ animations: 'disabled' })).toString('base64')
    const isSame = now === before
    before = now
    return isSame
  }, { every: 400 })
}

for (const { name: look, ...options } of looks) {
  world.test(
    `every page fits and is accessible: ${look}`,
    async ({ page, api, server }) => {
      await server.run('user', 'set', '--email', server.owner.email, '--operator')
      world.known ??= await fill(api)
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(server.url + path(world.known))
        await complete(page)
        await still(page)
        await page.screenshot({ path: new URL(`${name}-${look}.png`, pictures).pathname })
        const over = await overflow(page)
        assert.ok(over <= 0, `${name} is ${over} pixels too wide`)
        assert.deepEqual(await serious(page), [], `${name}: accessibility`)
      }
    },
    { ...options, timeout: 300_000 }
  )
}
