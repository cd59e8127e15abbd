// Takes the screenshots of README.md from the console of a running demo: `node pictures.mjs FOLDER` writes them there.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { desktop, enter, launch, phone, visit } from './lib/browser.mjs'
import { signIn } from './lib/client.mjs'
import { pixelsOf, until } from './lib/pixels.mjs'
import { binary } from './lib/server.mjs'

/** The colour of land on the bundled map. */
const land = '#f4f3ee'

const folder = process.argv[2]
if (!folder) throw new Error('name the folder for the pictures')

/** Starts the demo and returns its process and server. */
async function startDemo() {
  const child = spawn(binary, ['demo', '--seed', '7', '--json'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the demo ended with ${code}`)))
  ])
  const { address, email, password } = JSON.parse(line)
  return { child, server: { url: new URL(address).origin, owner: { email, password } } }
}

/** The vehicle that moved most in the last six hours, so that its history and its trail are long. */
async function busiest(api) {
  const { devices } = await api.get('/api/devices')
  const vehicles = devices.filter(({ name }) => /^(Truck|Van|Bus)/.test(name))
  const from = new Date(Date.now() - 6 * 3_600_000).toISOString()
  let best = { moved: -1, id: devices[0].id }
  for (const { id } of vehicles) {
    const { locations } = await api.get(`/api/devices/${id}/locations?from=${from}`)
    const moved = locations.filter((one) => one.speed > 20).length
    if (moved > best.moved) best = { moved, id }
  }
  return best.id
}

/** Waits until the land of the map is drawn, and then for requests and animations that are still running. */
async function settle(page) {
  const map = page.getByRole('region', { name: 'Map', exact: true }).first()
  if ((await map.count()) > 0) {
    const box = await map.boundingBox()
    const drawn = async () => (await pixelsOf(page, box, land, 6)) > 2_000
    await until('the land is drawn', drawn, { within: 120_000, every: 500 })
  }
  await page.waitForLoadState('networkidle', { timeout: 15_000 }).catch(() => {})
  await page.waitForTimeout(5_000)
}

async function main() {
  const { child, server } = await startDemo()
  const browser = await launch()
  try {
    const device = await busiest(await signIn(server))
    const shoot = async (name, path, viewport = desktop) => {
      const { context, page, wrong } = await visit(browser, server, { viewport })
      context.setDefaultTimeout(120_000)
      await enter(page, server)
      if (path !== '/') await page.goto(server.url + path)
      const silence = page.getByRole('button', { name: 'No sound' })
      if ((await silence.count()) > 0) await silence.first().click()
      await settle(page)
      await page.screenshot({ path: join(folder, `${name}.png`) })
      if (wrong.length > 0) throw new Error(`${path}: ${wrong.join('; ')}`)
      await context.close()
    }
    await shoot('map', '/')
    await shoot('device', `/devices/${device}`)
    await shoot('history', `/history/${device}`)
    await shoot('alerts', '/alerts?stage=all')
    await shoot('rules', '/geofences')
    await shoot('phone', '/', phone)
  } finally {
    await browser.close()
    child.kill('SIGINT')
    await once(child, 'exit')
  }
}

await main()
