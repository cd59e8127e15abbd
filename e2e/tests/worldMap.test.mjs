// Without the bundled map: the world inside the program is drawn at every zoom, and nothing else is asked for.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { middleOf, pixelsOf, until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'

const folder = await mkdtemp(join(tmpdir(), 'perigee-e2e-'))
after(() => rm(folder, { recursive: true, force: true }))
await writeFile(join(folder, 'packs.json'), '{"region":"","local":""}')
const { test } = suite({ PERIGEE_MAP__FOLDER: folder })

test('the world is drawn without packs', async ({ page, api, server }) => {
  const asked = []
  page.on('request', (request) => {
    if (request.url().includes('/api/map/bundled/')) asked.push(request.url().split('/').pop())
  })
  const device = await api.device('Off Vigo')
  await api.locate(device.id, 42.24, -8.9)
  await page.goto(`${server.url}/devices/${device.id}`)
  const around = await middleOf(page, 400)
  await until('land and sea are drawn', async () => {
    return (await pixelsOf(page, around, '#f4f3ee', 6)) > 5_000 && (await pixelsOf(page, around, '#c9deed', 6)) > 5_000
  })
  assert.ok(asked.length > 0)
  assert.deepEqual([...new Set(asked)], ['packs.json'])
})
