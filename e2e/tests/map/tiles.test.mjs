// The operator's own map from a PMTiles file: read by ranges, and drawn over the built-in map until that is chosen.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { middleOf, pixelsOf, until } from '../../lib/pixels.mjs'
import { suite } from '../../lib/suite.mjs'
import { writeTiles } from '../../lib/tiles.mjs'

const folder = await mkdtemp(join(tmpdir(), 'perigee-e2e-'))
after(() => rm(folder, { recursive: true, force: true }))
const file = join(folder, 'pink.pmtiles')
await writeTiles(file, [255, 0, 128])
const { test } = suite({ PERIGEE_MAP__PMTILES: file, PERIGEE_MAP__PMTILES_ATTRIBUTION: '© <b>Pink</b> maps' })

test('a file of tiles is read in parts and drawn', async ({ page, api, server }) => {
  const asked = []
  page.on('response', (response) => {
    if (response.url().endsWith('/api/map/tiles.pmtiles')) asked.push([response.request().headers().range, response.status()])
  })
  await api.device('Anything')
  await page.goto(server.url)
  const middle = await middleOf(page, 200)
  const pink = () => pixelsOf(page, middle, '#ff0080')
  const builtInMap = async () => (await pixelsOf(page, middle, '#cfe0ec')) + (await pixelsOf(page, middle, '#f4f3ee'))
  await until('the tiles are drawn', async () => (await pink()) > 30_000)
  assert.ok(asked.length > 0)
  for (const [range, status] of asked) assert.ok(/^bytes=\d+-\d+$/.test(range) && status === 206, `${range}: ${status}`)
  // The attribution of an operator is shown as text, not as HTML.
  await page.getByText('© <b>Pink</b> maps').first().waitFor()

  await page.getByRole('button', { name: 'Map layers' }).click()
  const builtIn = page.getByRole('radio', { name: 'Built-in map' })
  await builtIn.check()
  await until('the built-in map is back', async () => (await builtInMap()) > 20_000 && (await pink()) === 0)
  // The panel stays open and the radio button keeps the focus: the next choice is one key away.
  assert.ok(await builtIn.evaluate((radio) => radio.checked && radio === document.activeElement))
  await page.keyboard.press('ArrowDown')
  await until('the tiles are back', async () => (await pink()) > 30_000)
})
