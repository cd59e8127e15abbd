// `perigee demo`: one command starts a fleet that moves and raises alerts until the process is stopped. A screenshot is
// kept in target/e2e.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { enter, launch, visit } from '../lib/browser.mjs'
import { signIn } from '../lib/client.mjs'
import { pixelsOf, until } from '../lib/pixels.mjs'
import { binary } from '../lib/server.mjs'

const devices = 24

/** Starts a demonstration that keeps its store in a folder, and reads what it prints. */
async function startDemo(folder) {
  const args = ['demo', '--devices', String(devices), '--days', '1', '--json']
  const child = spawn(binary, args, { env: { ...process.env, TMPDIR: folder }, stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the demonstration ended with ${code}`)))
  ])
  const { address, email, password } = JSON.parse(line)
  return { child, server: { url: new URL(address).origin, owner: { email, password } } }
}

test('a demonstration moves, raises alerts, and leaves nothing behind', { timeout: 180_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'perigee-e2e-'))
  const { child, server } = await startDemo(folder)
  const browser = await launch()
  try {
    const api = await signIn(server)
    const { page, wrong } = await visit(browser, server)
    await enter(page, server)
    const rows = page.getByRole('list', { name: 'Devices' }).getByRole('listitem')
    await rows.first().waitFor()
    assert.equal(Number(await rows.first().getAttribute('aria-setsize')), devices)

    const positionsNow = async () => {
      const { locations } = await api.get('/api/locations/last')
      return new Map(locations.map(({ deviceId, latitude, longitude }) => [deviceId, `${latitude} ${longitude}`]))
    }
    const before = await positionsNow()
    assert.ok(before.size > devices / 2, `${before.size} devices are somewhere`)
    await until('several devices move', async () => {
      const now = await positionsNow()
      return [...now].filter(([id, position]) => before.get(id) !== position).length >= 3
    }, { within: 60_000, every: 500 })

    const map = await page.getByRole('region', { name: 'Map', exact: true }).first().boundingBox()
    await until('dots are drawn', async () => (await pixelsOf(page, map, '#14824a')) > 100)
    const pictures = new URL('../../target/e2e/', import.meta.url)
    await mkdir(pictures, { recursive: true })
    await page.screenshot({ path: new URL('demo.png', pictures).pathname })

    // The simulated past contains some alerts; another one is raised while the page is open.
    await page.goto(`${server.url}/alerts?stage=all`)
    const inbox = page.getByRole('list', { name: 'Alerts' })
    await inbox.getByRole('listitem').first().waitFor()
    const { alerts: [last] } = await api.get('/api/alerts?limit=1&order=desc')
    const newest = await until('another alert is raised', async () => {
      const { alerts: [newer] } = await api.get('/api/alerts?limit=1&order=desc')
      return newer.id !== last.id && newer
    }, { within: 90_000, every: 500 })
    await inbox.locator(`a[href*="${newest.id}"]`).first().waitFor()
    assert.deepEqual(wrong, [])
  } finally {
    await browser.close()
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    const [code] = await exited
    const left = await readdir(folder)
    await rm(folder, { recursive: true, force: true })
    assert.deepEqual([code, left], [0, []], 'it ends well and removes its store')
  }
})
