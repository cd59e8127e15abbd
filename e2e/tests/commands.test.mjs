// Commands: sent from the panel of a device, they wait until the device connects and can be cancelled meanwhile.
import assert from 'node:assert/strict'
import { serious } from '../lib/page.mjs'
import { suite } from '../lib/suite.mjs'

const { test } = suite()

test('a command is sent, listed and cancelled', async ({ page, api, server }) => {
  const device = await api.device('Obedient')
  await page.goto(`${server.url}/devices/${device.id}`)
  await page.getByRole('button', { name: 'Command', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Send a command' })
  await dialog.getByLabel('Command').selectOption({ label: 'Report at an interval' })
  await dialog.getByLabel('Interval (seconds)').fill('60')
  assert.deepEqual(await serious(page), [])
  await dialog.getByRole('button', { name: 'Send command' }).click()
  const row = dialog.getByRole('listitem').filter({ hasText: 'Report at an interval' })
  await row.getByText('Waiting').waitFor()
  const { commands } = await api.get(`/api/devices/${device.id}/commands`)
  assert.deepEqual(commands.map(({ type, values }) => [type, values]), [['positionPeriodic', { frequency: 60 }]])
  await row.getByRole('button', { name: 'Cancel the command' }).click()
  await row.getByText('Failed').waitFor()
})

test('an engine is stopped only by somebody who confirms it', async ({ page, api, server }) => {
  const device = await api.device('Engine')
  await page.goto(`${server.url}/devices/${device.id}`)
  await page.getByRole('button', { name: 'Command', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Send a command' })
  await dialog.getByLabel('Command').selectOption({ label: 'Stop the engine' })
  const send = dialog.getByRole('button', { name: 'Send command' })
  await send.click()
  // The browser does not submit the form until the box is ticked.
  assert.equal(await dialog.getByLabel('I have checked that this puts nobody in danger.').evaluate((box) => box.validity.valueMissing), true)
  await dialog.getByLabel('I have checked that this puts nobody in danger.').check()
  await send.click()
  await dialog.getByRole('listitem').filter({ hasText: 'Stop the engine' }).waitFor()
  assert.equal((await api.get(`/api/devices/${device.id}/commands`)).commands.length, 1)
})
