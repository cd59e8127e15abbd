// Named maps and overlays: a file, and a tile server whose tiles this server proxies. They are configured or added by
// command, and chosen in the console.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { middleOf, pixelsOf, until } from '../../lib/pixels.mjs'
import { suite } from '../../lib/suite.mjs'
import { picture, writeTiles } from '../../lib/tiles.mjs'

const folder = await mkdtemp(join(tmpdir(), 'perigee-e2e-'))
const file = join(folder, 'pink.pmtiles')
await writeTiles(file, [255, 0, 128])
const asked = []
const tile = picture(256, [0, 200, 80])
const tiles = createServer((request, response) => {
  asked.push(request)
  response.writeHead(200, { 'content-type': 'image/png' }).end(tile)
})
await new Promise((resolve) => tiles.listen(0, '127.0.0.1', resolve))
const host = `127.0.0.1:${tiles.address().port}`
after(async () => {
  tiles.close()
  await rm(folder, { recursive: true, force: true })
})

const { test } = suite({
  config: `[[map.layers]]
name = "Pink map"
source = "${file}"
attribution = "© <b>Pink</b> maps"

[[map.layers]]
name = "Green marks"
source = "http://${host}/{z}/{x}/{y}.png?key=secret"
overlay = true
max_zoom = 6
`
})

test('maps and overlays are chosen by name, the choice is kept, and all tiles come from this server', async ({ page, api, server }) => {
  const hosts = new Set()
  page.on('request', (request) => request.url().startsWith('http') && hosts.add(new URL(request.url()).host))
  await api.device('Anything')
  await page.goto(server.url)
  const middle = await middleOf(page, 200)
  const pink = () => pixelsOf(page, middle, '#ff0080')
  const green = () => pixelsOf(page, middle, '#00c850')
  await until('the map of the file is drawn', async () => (await pink()) > 30_000)
  await page.getByRole('button', { name: 'Map layers' }).click()
  assert.equal(await page.getByRole('radio', { name: 'Pink map' }).isChecked(), true)
  const marks = page.getByRole('checkbox', { name: 'Green marks' })
  assert.equal(asked.length, 0, 'tiles of a hidden overlay are not requested')
  await marks.check()
  await until('the overlay is over the map', async () => (await green()) > 30_000)
  assert.ok(asked.length > 0 && asked.every(({ headers }) => !headers.cookie), 'without the cookie of the session')

  await page.reload()
  await until('the overlay is kept', async () => (await green()) > 30_000)
  await page.getByRole('button', { name: 'Map layers' }).click()
  await page.getByRole('radio', { name: 'Built-in map' }).check()
  await marks.uncheck()
  await until('the built-in map is back', async () => (await green()) === 0 && (await pink()) === 0)
  assert.deepEqual([...hosts], [new URL(server.url).host])
})

test('the commands list, add and remove maps', async ({ server }) => {
  await server.run('map', 'add', file, '--name', 'Second map')
  // Those of the settings come first.
  const listed = async () => (await server.run('map', 'list')).layers.map(({ name, kind }) => [name, kind])
  const ofSettings = [
    ['Pink map', 'file'],
    ['Green marks', 'proxied']
  ]
  assert.deepEqual(await listed(), [...ofSettings, ['Second map', 'file']])
  await assert.rejects(server.run('map', 'add', file, '--name', 'Second map'), /more than once/)
  await assert.rejects(server.run('map', 'add', 'https://tiles.example.com/tiles', '--name', 'No'), /\{z\}/)
  await server.run('map', 'remove', 'Second map')
  assert.deepEqual(await listed(), ofSettings)
})
