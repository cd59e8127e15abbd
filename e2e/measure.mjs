// Measures the console in headless Chromium: how soon the page can be used, and how busy its main thread and how large
// its heap is while a large fleet moves. Not a test: `scripts/console-speed` runs it.
import { spawn } from 'node:child_process'
import { enter, launch, visit } from './lib/browser.mjs'
import { startServer } from './lib/server.mjs'

const option = (name, otherwise) => Number(process.argv[process.argv.indexOf(`--${name}`) + 1] || NaN) || otherwise
const devices = option('devices', 10_000)
const rate = option('rate', 1_000)
const seconds = option('seconds', 60)
const every = option('every', 10)
const binary = process.env.PERIGEE_BIN

const server = await startServer({
  PERIGEE_LIMITS__REQUESTS_PER_SECOND: '1000000',
  PERIGEE_LIMITS__BURST: '1000000'
})
const { accounts } = await server.run('account', 'list')
await server.run('account', 'set', '--account', accounts[0].accountId, '--licenses', String(devices + 10))
const { apiKey } = await server.run('key', 'issue', '--email', server.owner.email)
const env = { ...process.env, PERIGEE_USER_NAME: server.owner.email, PERIGEE_API_KEY: apiKey, PERIGEE_URL: server.url }
const simulate = (...args) =>
  spawn(binary, ['simulate', '--devices', String(devices), '--create-devices', ...args], { env, stdio: 'ignore' })
const ended = (child) => new Promise((resolve) => child.once('exit', resolve))

console.log(`making ${devices} devices`)
await ended(simulate('--seconds', '600', '--speedup', 'max', '--connections', '16'))

const browser = await launch()
const { page, context } = await visit(browser, server)
await enter(page, server)
await page.getByRole('listitem').filter({ hasText: /km\/h/ }).first().waitFor()
const state = await context.storageState()
// The pages are measured one at a time.
await page.goto('about:blank')

// A signed-in visitor with an empty cache: time from opening the address until the page can be used.
const cold = await browser.newContext({ storageState: state })
const second = await cold.newPage()
const begun = Date.now()
await second.goto(server.url)
await second.getByRole('searchbox').waitFor()
console.log(`page can be used after ${Date.now() - begun} ms (target 1500), ${devices} devices`)
await second.getByRole('listitem').filter({ hasText: /km\/h/ }).first().waitFor()
console.log(`fleet is listed after ${Date.now() - begun} ms`)
await cold.close()
await page.goto(server.url)
await page.getByRole('listitem').filter({ hasText: /km\/h/ }).first().waitFor()

const traffic = simulate('--seconds', '86400', '--speedup', '60', '--rate', String(rate), '--batch', '1', '--connections', '32')
const cdp = await context.newCDPSession(page)
await cdp.send('Performance.enable')
const metrics = async () => {
  const { metrics } = await cdp.send('Performance.getMetrics')
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]))
}
/** Number of locations that the server has processed; each one is sent to this page. */
const locationCount = async () => {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return Number(/^perigee_rules_locations_total (\d+)/m.exec(text)?.[1])
}
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
await pause(5_000)
let last = await metrics()
let lastCount = await locationCount()
for (let second = every; second <= seconds; second += every) {
  await pause(every * 1_000)
  const now = await metrics()
  const count = await locationCount()
  const span = now.Timestamp - last.Timestamp
  const busy = ((now.TaskDuration - last.TaskDuration) / span) * 1_000
  const updates = (count - lastCount) / span
  console.log(
    `${second} s: ${updates.toFixed(0)} updates/s, main thread busy ${busy.toFixed(0)} ms/s (target 600), ` +
      `scripts ${(((now.ScriptDuration - last.ScriptDuration) / span) * 1_000).toFixed(0)} ms/s, ` +
      `heap ${(now.JSHeapUsedSize / 2 ** 20).toFixed(0)} MiB`
  )
  last = now
  lastCount = count
}
traffic.kill()
await ended(traffic)
await browser.close()
await server.stop()
