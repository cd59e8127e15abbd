// Streets in one step: an operator is told that they are missing, copies them from another server, and everybody sees them
// without a restart. The command does the same, and continues after it was killed. The copy is read with an independent reader.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { PMTiles } from '../../../web/node_modules/pmtiles/dist/esm/index.js'
import { middleOf, pixelsOf, until } from '../../lib/pixels.mjs'
import { binary } from '../../lib/server.mjs'
import { suite } from '../../lib/suite.mjs'
import { writeTiles } from '../../lib/tiles.mjs'

const folder = await mkdtemp(join(tmpdir(), 'perigee-e2e-'))
const file = join(folder, 'world.pmtiles')
await writeTiles(file, [255, 0, 128], 14)
const bytes = await readFile(file)
/** While it is set, requests after the first are not answered. */
let hangs = false
const waiting = []
const source = createServer((request, response) => {
  const [first, last] = /bytes=(\d+)-(\d+)/.exec(request.headers.range).slice(1).map(Number)
  if (hangs && first > 0) return waiting.push(response)
  const end = Math.min(last, bytes.length - 1)
  response.writeHead(206, {
    'content-range': `bytes ${first}-${end}/${bytes.length}`,
    'content-length': end + 1 - first,
    etag: '"one"'
  })
  return response.end(bytes.subarray(first, end + 1))
})
await new Promise((resolve) => source.listen(0, '127.0.0.1', resolve))
const address = `http://127.0.0.1:${source.address().port}/world.pmtiles`
after(async () => {
  source.closeAllConnections()
  source.close()
  await rm(folder, { recursive: true, force: true })
})

const { test } = suite({
  config: `[webhooks]
allow_http = true
allow_private = true

[store]
warn_free_mib = 0

[map]
fetch_source = "${address}"
`
})

/** Reads a file of this machine for the independent reader. */
class FileSource {
  constructor(path) {
    this.path = path
  }
  getKey() {
    return this.path
  }
  async getBytes(offset, length) {
    const handle = await open(this.path)
    const buffer = new ArrayBuffer(length)
    const { bytesRead } = await handle.read(new Uint8Array(buffer), 0, length, offset)
    await handle.close()
    return { data: buffer.slice(0, bytesRead) }
  }
}

test('an operator is told that streets are missing, and copies them', async ({ page, api, server }) => {
  const device = await api.device('Van')
  await api.locate(device.id, 40.42, -3.7)
  await page.goto(server.url)
  await page.getByRole('button', { name: 'Map layers' }).waitFor()
  assert.equal(await page.getByText('The map has no streets').count(), 0, 'others are not told')
  await server.run('user', 'set', '--email', server.owner.email, '--operator')
  await page.reload()
  await page.getByText('The map has no streets where your devices are on land.').waitFor()
  await page.getByRole('button', { name: 'Fetch streets' }).click()
  await page.waitForURL(/\/operator$/)

  await page.getByRole('button', { name: 'Copy a map' }).click()
  await page.getByLabel('Area', { exact: true }).selectOption({ label: 'A country' })
  await page.getByLabel('Country').selectOption({ label: 'Spain' })
  await page.getByLabel('Detail').selectOption({ label: 'Towns and main roads (zoom 10)' })
  await page.getByRole('button', { name: 'Find out the size' }).click()
  const map = page.getByRole('listitem', { name: 'Streets' })
  await map.getByText('Not copied yet').waitFor()
  await map.getByText('Size of each zoom level').click()
  await map.getByRole('rowheader', { name: '10', exact: true }).waitFor()
  await map.getByRole('button', { name: 'Copy now' }).click()
  await map.getByText('Complete').waitFor()

  await page.goto(server.url)
  const middle = await middleOf(page, 200)
  await until('the copied map is drawn', async () => (await pixelsOf(page, middle, '#ff0080')) > 20_000)
  assert.equal(await page.getByText('The map has no streets').count(), 0)
  await page.getByRole('button', { name: 'Map layers' }).click()
  assert.equal(await page.getByRole('radio', { name: 'Streets' }).isChecked(), true)

  const maps = join(server.folder, 'data', 'maps')
  const [name] = (await readdir(maps)).filter((one) => one.endsWith('.pmtiles'))
  const copy = new PMTiles(new FileSource(join(maps, name)))
  const header = await copy.getHeader()
  assert.deepEqual([header.minZoom, header.maxZoom, header.tileType, header.clustered], [0, 10, 2, true])
  const madrid = await copy.getZxy(10, 501, 386)
  assert.equal(Buffer.from(madrid.data).subarray(1, 4).toString(), 'PNG')
  assert.equal(await copy.getZxy(10, 700, 400), undefined, 'beyond Spain there is nothing')
  assert.equal(await copy.getZxy(11, 1003, 774), undefined, 'nor on deeper levels')

  await page.goto(`${server.url}/operator`)
  await map.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await map.waitFor({ state: 'detached' })
  assert.deepEqual((await readdir(maps)).filter((one) => one.startsWith('map_')), [])
})

test('the command copies beside the running server, and continues after it was killed', async ({ page, server }) => {
  const area = ['--name', 'Vigo', '--bbox=-9,42,-8.5,42.5', '--max-zoom', '12']
  const dry = await server.run('map', 'fetch', ...area, '--dry-run')
  assert.equal(dry.zooms.length, 13)
  assert.ok(dry.bytes > 0 && dry.tiles > 20)
  hangs = true
  const config = join(server.folder, 'perigee.toml')
  const data = join(server.folder, 'data')
  const killed = spawn(binary, ['map', 'fetch', '--name', 'Vigo', '--config', config, '--data', data])
  await until('a tile is requested', () => waiting.length > 0)
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  hangs = false
  const layers = async () => (await (await fetch(`${server.url}/api/console`)).json()).map.layers
  assert.deepEqual(await layers(), [])
  const done = await server.run('map', 'fetch', '--name', 'Vigo')
  assert.deepEqual([done.name, done.tiles], ['Vigo', dry.tiles])
  assert.deepEqual(
    (await layers()).map(({ name }) => name),
    ['Vigo']
  )
  await page.goto(server.url)
  await server.run('map', 'remove', 'Vigo')
  assert.deepEqual(await layers(), [])
})
