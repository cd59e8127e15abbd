// What fingers and keys need: targets of 44 pixels, filters that fold on a phone, and keys that work after a search.
import assert from 'node:assert/strict'
import { phone } from '../lib/browser.mjs'
import { fill } from '../lib/fleet.mjs'
import { complete, overflow } from '../lib/page.mjs'
import { suite } from '../lib/suite.mjs'

const { test } = suite()
const touch = { viewport: phone, hasTouch: true, isMobile: true }

/** Buttons of the page that are shown and smaller than a finger. */
const small = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('main button, main [role=switch]')]
      .filter((button) => button.checkVisibility({ visibilityProperty: true }) && !button.closest('.maplibregl-map'))
      .map((button) => [button.getBoundingClientRect(), button.ariaLabel || button.innerText.trim()])
      .filter(([{ width, height }]) => width > 0 && (width < 43.5 || height < 43.5))
      .map(([{ width, height }, name]) => `${name}: ${Math.round(width)} x ${Math.round(height)}`)
  )

test('buttons and switches are large enough for fingers', async ({ page, api, server }) => {
  await fill(api)
  for (const path of ['/rules', '/devices', '/alerts', '/settings', '/groups']) {
    await page.goto(server.url + path)
    await complete(page)
    assert.deepEqual(await small(page), [], path)
    assert.ok((await overflow(page)) <= 0, `${path} scrolls sideways`)
  }
}, touch)

test('filters fold on a phone', async ({ page, server }) => {
  await page.goto(`${server.url}/devices`)
  const state = page.getByRole('combobox', { name: 'Filter by status' })
  const button = page.getByRole('button', { name: /^Filters/ })
  await button.waitFor()
  assert.equal(await state.isVisible(), false)
  await button.click()
  await state.selectOption({ index: 1 })
  await page.getByRole('button', { name: 'Filters (1 set)' }).click()
  assert.equal(await state.isVisible(), false)
}, touch)

test('the page does not jump while it loads', async ({ page, api, server }) => {
  // The banner of a critical alert moves the page, whenever it comes.
  for (const { id } of (await api.get('/api/alerts?stage=open&limit=1000')).alerts) await api.post(`/api/alerts/${id}/end`)
  for (const path of ['/', '/devices', '/alerts']) {
    await page.addInitScript(() => {
      window.shifts = 0
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts += entry.value
      }).observe({ type: 'layout-shift', buffered: true })
    })
    await page.goto(server.url + path)
    await complete(page)
    const shifts = await page.evaluate(() => window.shifts)
    assert.ok(shifts < 0.1, `${path}: ${shifts}`)
  }
}, touch)

test('keys of the page work after a search', async ({ page, server }) => {
  await page.goto(`${server.url}/devices`)
  const field = page.getByRole('searchbox').first()
  await field.fill('nothing has this name')
  await field.press('Enter')
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  await page.waitForURL(/\/history$/)
})
