// Launches the browser and records everything a page must not do: errors, violations of the security policy, and
// requests to other hosts.
import { chromium } from 'playwright-core'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const args = [
  '--no-sandbox',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
]

export const launch = () => chromium.launch({ executablePath, args })

export const desktop = { width: 1360, height: 850 }
export const phone = { width: 390, height: 844 }

/** Console messages of the browser about requests that are refused on purpose. */
const expected = [/status of 401/, /GPU stall due to ReadPixels/]

/** Opens a page in a new browser context; `wrong` lists what the page must not do and did. */
export async function visit(browser, server, options = {}) {
  const context = await browser.newContext({ viewport: desktop, locale: 'en', ...options })
  context.setDefaultTimeout(30_000)
  const wrong = []
  const page = await context.newPage()
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    const matters = message.type() === 'error' || /Content Security Policy/.test(text)
    if (matters && ![...expected, ...(options.expected ?? [])].some((known) => known.test(text))) wrong.push(text)
  })
  context.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== server.url) wrong.push(`asked another host: ${request.url()}`)
  })
  return { context, page, wrong }
}

/** Signs in by the form. */
export async function enter(page, server, { email, password } = server.owner, path = '/') {
  await page.goto(server.url + path)
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main navigation' }).waitFor()
}
