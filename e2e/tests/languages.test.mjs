// Every page is entirely in the language of the user: no text of the other language, and no message key.
import assert from 'node:assert/strict'
import { fill, names } from '../lib/fleet.mjs'
import { complete } from '../lib/page.mjs'
import { pages } from '../lib/pages.mjs'
import { suite } from '../lib/suite.mjs'
import { untranslated } from '../lib/words.mjs'

const world = suite()
let known

for (const [language, title] of Object.entries({ en: 'Settings', es: 'Ajustes' })) {
  world.test(
    `every page is in one language: ${language}`,
    async ({ page, api, server }) => {
      await server.run('user', 'set', '--email', server.owner.email, '--operator')
      known ??= await fill(api)
      await page.goto(`${server.url}/settings`)
      await page.locator('select').first().selectOption(language)
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      // The server names the columns of reports, in words that another language's messages may have.
      const { kinds } = await api.get(`/api/reports/kinds?language=${language}`)
      const titles = new Set(kinds.flatMap(({ columns }) => columns.map(({ title }) => title)))
      const wrong = {}
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(server.url + path(known))
        await complete(page)
        const found = (await untranslated(page, language, names())).filter((text) => !titles.has(text))
        if (found.length > 0) wrong[name] = found
      }
      assert.deepEqual(wrong, {})
    },
    { timeout: 300_000 }
  )
}
