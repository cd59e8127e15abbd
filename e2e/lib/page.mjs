// Waits for a complete page, and checks its accessibility and its width.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { until } from './pixels.mjs'
import { inEveryLanguage } from './words.mjs'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const loading = inEveryLanguage('common.loading')

/**
 * Waits until the page has a heading or a list, nothing on it says that it is loading, and no request is under way. The event
 * stream never ends, so Playwright's own `networkidle` would wait until its timeout on every page.
 */
export async function complete(page) {
  await page.locator('h1:visible, h2:visible, [role=list]:visible').first().waitFor()
  await until('the page is loaded', () =>
    page.evaluate(async (loading) => {
      const isLoading = [...document.querySelectorAll('[role=status]')].some(({ textContent }) => loading.includes(textContent.trim()))
      const count = () => performance.getEntriesByType('resource').length
      const before = count()
      await new Promise((resolve) => setTimeout(resolve, 150))
      return !isLoading && count() === before
    }, loading)
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

/**
 * Texts that do not fit: beyond the edge of the window, or out of their button, link, tab, label or heading. Texts in something
 * that scrolls, and names that are cut with an ellipsis, fit.
 */
export const misfits = (page) =>
  page.evaluate(() => {
    const controls = 'button, a, label, legend, summary, h1, h2, h3, th, [role=tab], [role=option], [role=switch]'
    const hidden = 'script, style, option, noscript, canvas, .maplibregl-map'
    const tolerancePx = 1.5
    const scrolls = (style) => /auto|scroll/.test(style.overflowX)
    const describe = (element) => `<${element.tagName.toLowerCase()} class="${element.className}">`
    const found = new Set()
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent.replace(/\s+/g, ' ').trim()
      const parent = node.parentElement
      if (!text || parent.closest(hidden) || !parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      const box = range.getBoundingClientRect()
      // Texts for screen readers are a pixel large or outside of the window.
      if (box.width < 2 || box.height < 2 || box.right < 0) continue
      const control = parent.closest(controls)
      for (let element = parent; element && element !== document.body; element = element.parentElement) {
        const style = getComputedStyle(element)
        const outer = element.getBoundingClientRect()
        if (outer.width <= 1 || outer.height <= 1) break
        if (scrolls(style) || style.textOverflow === 'ellipsis' || style.webkitLineClamp !== 'none') break
        const isOut = box.right > outer.right + tolerancePx || box.left < outer.left - tolerancePx
        if (isOut && (element === control || style.overflowX !== 'visible')) {
          found.add(`"${text}" is wider than ${describe(element)} by ${Math.round(box.right - outer.right)} px`)
          break
        }
        if (element.parentElement === document.body && box.right > innerWidth + tolerancePx) {
          found.add(`"${text}" is beyond the edge by ${Math.round(box.right - innerWidth)} px`)
        }
      }
    }
    return [...found]
  })
