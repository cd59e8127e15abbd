// What an operator decides about accounts: suspension, deletion with a grace period, branding; and the mail to a new owner.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { openMailbox } from '../lib/mailbox.mjs'
import { serious } from '../lib/page.mjs'
import { until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'

const mailbox = await openMailbox()
const { test } = suite(mailbox.settings)
after(() => mailbox.close())
const expected = [/status of 40[039]/]

/** A PNG of one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64'
)

/** Opens the operator's page and creates an account there, whose owner is mailed. */
async function create(page, server, name) {
  await server.run('user', 'set', '--email', server.owner.email, '--operator')
  await page.goto(`${server.url}/operator`)
  await page.getByRole('button', { name: 'New account' }).click()
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('E-mail of the first owner').fill(`${name.toLowerCase()}@example.com`)
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByText(`was sent to ${name.toLowerCase()}@example.com`).waitFor()
  await page.getByRole('dialog').locator('footer').getByRole('button', { name: 'Close' }).click()
}

test('a new owner is mailed a link', async ({ page, server }) => {
  await create(page, server, 'Mailed')
  const mail = await until('the invitation arrives', () => mailbox.mails.find((one) => one.includes('To: mailed@example.com')))
  assert.match(mail.replaceAll('=\n', ''), /\/password\?language=/)
}, { expected })

test('an account is suspended, deleted and restored', async ({ page, server }) => {
  await create(page, server, 'Castro')
  const manage = async () => page.getByRole('button', { name: 'Castro', exact: true }).click()
  await manage()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('API calls').waitFor()
  assert.deepEqual(await serious(page), [])
  await dialog.getByLabel('Message to its users').fill('Call the harbour.')
  await dialog.getByRole('button', { name: 'Suspend' }).click()
  await dialog.getByText('Suspended since').waitFor()
  await dialog.getByRole('button', { name: 'Resume' }).click()
  await dialog.getByText('Suspended since').waitFor({ state: 'detached' })

  const remove = dialog.getByRole('button', { name: 'Delete the account' })
  assert.equal(await remove.isDisabled(), true, 'the name must be typed')
  await dialog.getByLabel('Type Castro to confirm').fill('Castro')
  await remove.click()
  await dialog.getByText('All data will be deleted from').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('Being deleted').waitFor()
  await manage()
  await dialog.getByRole('button', { name: 'Undo the deletion' }).click()
  await dialog.getByText('All data will be deleted from').waitFor({ state: 'detached' })
}, { expected })

test('a suspended user is told why, and an operator is not locked out', async ({ page, api, server }) => {
  await create(page, server, 'Delta')
  const { accounts } = await api.get('/api/operator/accounts')
  const own = accounts.find(({ name }) => !['Mailed', 'Castro', 'Delta'].includes(name))
  await page.getByRole('button', { name: own.name, exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Suspend' }).click()
  await dialog.getByText('is an operator of the server').waitFor()
}, { expected })

test('the logo of an account is shown in its console', async ({ page, api, server }) => {
  await create(page, server, 'Echo')
  const { accounts } = await api.get('/api/operator/accounts')
  const own = accounts.find(({ name }) => !['Mailed', 'Castro', 'Delta', 'Echo'].includes(name))
  await page.getByRole('button', { name: own.name, exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('input[type=file]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: png })
  await dialog.getByRole('img', { name: 'Logo' }).waitFor()
  await dialog.getByLabel('Shown name').fill('Harbour Safety')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved').first().waitFor()
  await page.goto(server.url)
  const brand = page.getByRole('link', { name: 'Harbour Safety' })
  await brand.waitFor()
  const width = () => brand.locator('img').evaluate((image) => image.naturalWidth)
  await until('the logo is loaded', async () => (await width()) > 0)
}, { expected })

test('accounts are sorted', async ({ page, server }) => {
  await create(page, server, 'Alpha')
  await page.getByLabel('Sort by').selectOption('name')
  const names = () => page.locator('tbody th .name').allInnerTexts()
  await until('Alpha is first', async () => (await names())[0] === 'Alpha')
})
