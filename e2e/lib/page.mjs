// Waits for a complete page, and checks its accessibility and its width.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { until } from './pixels.mjs'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * Waits until the page has a heading or a list, nothing on it says that it is loading, and no request is under way. The event
 * stream never ends, so Playwright's own `networkidle` would wait until its timeout on every page.
 */
export async function complete(page) {
  await page.locator('h1:visible, h2:visible, [role=list]:visible').first().waitFor()
  await until('the page is loaded', () =>
    page.evaluate(async () => {
      const isLoading = [...document.querySelectorAll('[role=status]')].some(({ textContent }) => /^(Loading|Cargando)…$/.test(textContent.trim()))
      const count = () => performance.getEntriesByType('resource').length
      const before = count()
      await new Promise((resolve) => setTimeout(resolve, 150))
      return !isLoading && count() === before
    })
  )
}

/** Serious findings of an accessibility check. */
export async function serious(page) {
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() =>
    window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'], resultTypes: ['violations'] })
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`))
}

/** Number of pixels by which the page is wider than the window. */
export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
