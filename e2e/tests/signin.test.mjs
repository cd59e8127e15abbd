// Signing in and out: a wrong password is refused, and the code of a second factor is required when one is set up.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { enter } from '../lib/browser.mjs'
import { suite } from '../lib/suite.mjs'

const { test } = suite()

test(
  'a wrong password is refused with a reason, the right one lets in',
  async ({ page, server }) => {
    await page.goto(server.url)
    await page.getByLabel('E-mail').fill(server.owner.email)
    await page.getByLabel('Password').fill('wrong password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    await enter(page, server)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Password').waitFor()
  },
  { signedIn: false }
)

test('the session cookie cannot be read by the page, and nothing secret is kept there', async ({ page, context, server }) => {
  const cookies = await context.cookies()
  assert.equal(cookies.length, 1)
  assert.equal(cookies[0].httpOnly, true)
  assert.equal(cookies[0].sameSite, 'Strict')
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
  assert.ok(!kept.includes(server.owner.password))
  assert.equal(await page.evaluate(() => document.cookie), '')
})

/** The code of RFC 6238 for a secret in base 32. */
function codeOf(secret, now = Date.now()) {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  let bits = ''
  for (const letter of secret.replace(/[= ]/g, '')) bits += letters.indexOf(letter).toString(2).padStart(5, '0')
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)))
  const hash = createHmac('sha1', key).update(counter).digest()
  const offset = hash[19] & 15
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

test(
  'a user with a second factor is asked for its code',
  async ({ page, api, server }) => {
    const { secret } = await api.post('/api/session/totp', { password: server.owner.password })
    await api.put('/api/session/totp', { code: codeOf(secret) })
    try {
      await page.goto(server.url)
      await page.getByLabel('E-mail').fill(server.owner.email)
      await page.getByLabel('Password').fill(server.owner.password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      // A code is accepted only once. The code of the next half minute is accepted already and has not been used.
      await page.getByLabel('Code').fill(codeOf(secret, Date.now() + 30_000))
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('navigation', { name: 'Main navigation' }).waitFor()
    } finally {
      await api.delete('/api/session/totp').catch(() => undefined)
    }
  },
  { signedIn: false }
)
