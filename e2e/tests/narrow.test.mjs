// Every page in German, whose words are the longest, on the narrowest phone: no text is wider than its control, nothing scrolls
// sideways, and everything is in German. The languages are also chosen by the browser and by the user.
import assert from 'node:assert/strict'
import { fill, names } from '../lib/fleet.mjs'
import { complete, misfits, overflow } from '../lib/page.mjs'
import { pages } from '../lib/pages.mjs'
import { suite } from '../lib/suite.mjs'
import { languages, message, untranslated } from '../lib/words.mjs'

const world = suite()
/** Reports are in English for readers of German, and Iceland has the name of an English word. */
const isEnglishInGerman = (name, text) => ['reports', 'totals'].includes(name) || text === 'Island'
const narrow = { width: 320, height: 720 }

/** Chooses a language in the settings and waits until it is shown. */
async function choose(page, server, language) {
  await page.goto(`${server.url}/settings`)
  await page.locator('select').first().selectOption(language)
  await page.getByRole('heading', { name: message(language, 'common.page.settings'), level: 1 }).waitFor()
}

world.test(
  'every page fits into 320 pixels in German',
  async ({ page, api, server }) => {
    await server.run('user', 'set', '--email', server.owner.email, '--operator')
    const known = await fill(api)
    await choose(page, server, 'de')
    await page.setViewportSize(narrow)
    const wrong = {}
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(server.url + path(known))
      await complete(page)
      const over = await overflow(page)
      const found = [
        ...(over > 0 ? [`the page is ${over} pixels too wide`] : []),
        ...(await misfits(page)),
        ...(await untranslated(page, 'de', names()))
          .filter((text) => !isEnglishInGerman(name, text))
          .map((text) => `"${text}" is not German`)
      ]
      if (found.length > 0) wrong[name] = found
    }
    assert.deepEqual(wrong, {})
  },
  { timeout: 300_000 }
)

world.test('a text that is too wide is found', async ({ page }) => {
  await page.setViewportSize(narrow)
  await page.evaluate(() => {
    const button = document.createElement('button')
    button.textContent = 'Benachrichtigungseinstellungen'
    button.style.cssText = 'position: fixed; width: 40px; white-space: nowrap; padding: 0'
    document.body.append(button)
  })
  assert.ok((await misfits(page)).some((text) => text.includes('Benachrichtigungseinstellungen')))
})

world.test('every language is shown when it is chosen, and after a reload', async ({ page, server }) => {
  for (const language of languages) {
    await choose(page, server, language)
    assert.equal(await page.locator('html').getAttribute('lang'), language)
  }
  await page.goto(`${server.url}/settings`)
  const last = languages.at(-1)
  await page.getByRole('heading', { name: message(last, 'common.page.settings'), level: 1 }).waitFor()
  assert.equal(await page.locator('html').getAttribute('lang'), last)
})

for (const [locale, language] of [
  ['pt-BR', 'pt'],
  ['it-CH', 'it'],
  ['nl-NL', 'en']
]) {
  world.test(
    `a browser in ${locale} gets ${language}`,
    async ({ page, server }) => {
      await page.goto(server.url)
      await page.getByRole('button', { name: message(language, 'signin.submit') }).waitFor()
      assert.equal(await page.locator('html').getAttribute('lang'), language)
    },
    { signedIn: false, locale }
  )
}
