// Setup of every test file: a server, a browser, and a page whose errors make the test fail.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { enter, launch, visit } from './browser.mjs'
import { signIn } from './client.mjs'
import { startServer } from './server.mjs'

/** Starts a server and a browser before the tests of a file, and stops both afterwards. */
export function suite(settings = {}) {
  const world = {}
  before(async () => {
    world.server = await startServer(typeof settings === 'function' ? await settings() : settings)
    world.browser = await launch()
    world.api = await signIn(world.server)
  })
  after(async () => {
    await world.browser?.close()
    await world.server?.stop()
  })

  /** Declares a test that gets its own page, signed in unless `signedIn` is false. */
  world.test = (name, body, { user, path = '/', signedIn = true, timeout = 120_000, ...options } = {}) =>
    test(name, { timeout }, async () => {
      const { context, page, wrong } = await visit(world.browser, world.server, options)
      try {
        if (signedIn) await enter(page, world.server, user?.(world) ?? world.server.owner, path)
        await body({ ...world, page, context })
      } finally {
        await context.close()
      }
      assert.deepEqual(wrong, [], 'the page did something wrong')
    })
  return world
}
