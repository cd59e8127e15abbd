// Names are text everywhere: two hundred hostile ones are shown as they are written and do nothing.
import assert from 'node:assert/strict'
import { until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'

const { test } = suite({ PERIGEE_LIMITS__REQUESTS_PER_SECOND: '100000', PERIGEE_LIMITS__BURST: '100000' })

const tricks = [
  (mark) => `<script>document.title='${mark}'</script>`,
  (mark) => `<img src=x onerror="document.title='${mark}'">`,
  (mark) => `"><svg onload=document.title='${mark}'>`,
  (mark) => `javascript:document.title='${mark}'//`,
  (mark) => `{{constructor.constructor("document.title='${mark}'")()}}`,
  (mark) => `\${document.title='${mark}'}`,
  (mark) => `</title><script>document.title='${mark}'</script>`,
  (mark) => `<iframe srcdoc="<script>parent.document.title='${mark}'</script>"></iframe>`,
  (mark) => `<a href="javascript:document.title='${mark}'">${mark}</a>`,
  (mark) => `\u202e${mark}\u2066<b>bold</b>`,
  (mark) => `<style>*{display:none}</style>${mark}`,
  (mark) => `${mark} &lt;b&gt; &amp; &#60;`,
  (mark) => `'; DROP TABLE devices; -- ${mark}`,
  (mark) => `\u2028${mark}\u2029`,
  (mark) => `${'W'.repeat(180)}${mark}`,
  (mark) => `😈👩‍👩‍👧‍👦 ${mark}`,
  (mark) => `%00%0d%0a${mark}`,
  (mark) => `[${mark}](javascript:alert(1))`,
  (mark) => `<math><mi//xlink:href="data:x,<script>alert('${mark}')</script>">`,
  (mark) => `<template><slot onslotchange=alert('${mark}')></slot></template>`
]
/** Number of calls at the same time. */
const atOnce = 20
const markOf = (index) => `hostile${String(index).padStart(3, '0')}`
const names = Array.from({ length: 200 }, (_, index) => tricks[index % tricks.length](markOf(index)))

test('two hundred hostile names are only text', async ({ page, api, server }) => {
  const { account } = await api.get('/api/account')
  await server.run('account', 'set', '--account', account.id, '--licenses', '300')
  const devices = []
  for (let first = 0; first < names.length; first += atOnce) {
    const some = await Promise.all(names.slice(first, first + atOnce).map((name) => api.device(name)))
    await Promise.all(some.map(({ id }, index) => api.locate(id, first / 4, index - 100)))
    devices.push(...some)
  }
  await api.post('/api/groups', { name: names[0], devices: devices.slice(0, 20).map(({ id }) => id) })
  await page.goto(server.url)
  const list = page.getByRole('list', { name: 'Devices' })
  await list.getByRole('listitem').first().waitFor()
  const seen = new Set()
  for (let top = 0; top <= 200 * 56; top += 400) {
    await list.evaluate((element, to) => element.scrollTo(0, to), top)
    await page.evaluate(() => new Promise(requestAnimationFrame))
    for (const text of await list.locator('.name').allTextContents()) seen.add(text)
  }
  for (const { name } of devices) assert.ok(seen.has(name), `${name} is not shown as it is written`)
  for (const [index, device] of devices.slice(0, tricks.length).entries()) {
    await page.getByRole('searchbox').fill(markOf(index))
    await list.getByRole('link').filter({ hasText: device.name.trim() }).first().click()
    const shown = page.getByRole('heading', { level: 2 }).filter({ hasText: /hostile/ })
    await until('the name is shown', async () => (await shown.first().textContent()) === device.name)
    assert.doesNotMatch(await page.title(), /^hostile/)
  }
  assert.equal(await page.locator('main script, main iframe, main img').count(), 0)
})
