// Photos that a tracker sent or a user set, the language of an invitation, and the name of the account on a share page.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after } from 'node:test'
import { openMailbox } from '../lib/mailbox.mjs'
import { serious } from '../lib/page.mjs'
import { until } from '../lib/pixels.mjs'
import { suite } from '../lib/suite.mjs'
import { visit } from '../lib/browser.mjs'

const mailbox = await openMailbox()
after(() => mailbox.close())
const { test } = suite({
  ...mailbox.settings,
  PERIGEE_GATEWAYS__LISTEN: 'any=127.0.0.1:0',
  RUST_LOG: 'warn,perigee_server::listen=info'
})

/** The text of a mail without the encoding of its lines. */
const plain = (mail) =>
  mail
    .replace(/=\n/g, '')
    .replace(/(=[0-9A-F]{2})+/g, (codes) => Buffer.from(codes.replaceAll('=', ''), 'hex').toString('utf8'))

/** A picture of one colour as a browser writes it. */
const picture = async (page, type, colour, size) =>
  Buffer.from(
    await page.evaluate(
      ({ type, colour, size }) => {
        const canvas = Object.assign(document.createElement('canvas'), { width: size, height: size })
        const context = canvas.getContext('2d')
        context.fillStyle = colour
        context.fillRect(0, 0, size, size)
        return canvas.toDataURL(type).split(',')[1]
      },
      { type, colour, size }
    ),
    'base64'
  )

/** Sends parts to the port for trackers, each one after the answer to the previous one. */
async function send(port, parts) {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', (text) => (received += text))
  for (const { bytes, answer } of parts) {
    socket.write(bytes)
    await until(`the server answers ${answer}`, () => received.includes(answer))
  }
  socket.end()
}

/** The colour in the middle of an image; null while the image is not loaded. */
const colourOf = (image) =>
  image.evaluate((shown) => {
    if (!shown.complete || shown.naturalWidth === 0) return null
    const context = new OffscreenCanvas(1, 1).getContext('2d')
    context.drawImage(shown, shown.naturalWidth / 2, shown.naturalHeight / 2, 1, 1, 0, 0, 1, 1)
    return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)]
  })
const isNear = (colour, wanted) => colour?.every((value, at) => Math.abs(value - wanted[at]) < 12)

test('a photo that a tracker sent is among the files of its device', async ({ page, api, server }) => {
  const device = await api.device('Camera truck', { identifier: 'truck-1' })
  await api.locate(device.id, 42.2, -8.7)
  await page.goto(`${server.url}/devices/${device.id}`)
  const photo = await picture(page, 'image/jpeg', '#c04020', 320)
  const found = await until('the server logs its port', () => {
    const line = server.log.find((text) => text.includes('listening for trackers over TCP'))
    return line && /127\.0\.0\.1:(\d+)/.exec(line)
  })
  const head = `#I#${photo.length};0;0;010126;120000;truck.jpg\r\n`
  await send(Number(found[1]), [
    { bytes: '#L#truck-1;NA\r\n', answer: '#AL#1' },
    { bytes: Buffer.concat([Buffer.from(head), photo]), answer: '#AI#0;1' }
  ])
  await page.reload()
  const image = page.getByRole('img', { name: /^Photo of / }).first()
  await until('the photo is drawn', async () => isNear(await colourOf(image), [0xc0, 0x40, 0x20]))
})

test('a photo that somebody set is in the panel and the list, and can be removed', async ({ page, api, server }) => {
  const device = await api.device('Albatross')
  await api.locate(device.id, 42.3, -8.8)
  await page.goto(`${server.url}/devices/${device.id}`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit device' })
  const chooser = dialog.locator('input[type=file]')
  await chooser.setInputFiles({ name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('<html>no photo</html>') })
  await dialog.getByText('This file is not a photo that the browser can read.').waitFor()
  const large = await picture(page, 'image/png', '#2060c0', 2_400)
  await chooser.setInputFiles({ name: 'boat.png', mimeType: 'image/png', buffer: large })
  await dialog.getByRole('img', { name: 'Photo' }).waitFor()
  assert.deepEqual(await serious(page), [])
  await dialog.getByLabel('Name', { exact: true }).fill('Albatross II')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  const image = page.getByRole('img', { name: 'Photo of Albatross II' })
  await until('the photo is drawn', async () => isNear(await colourOf(image), [0x20, 0x60, 0xc0]))
  assert.equal(await image.evaluate((shown) => shown.naturalWidth), 800, 'scaled down')
  assert.deepEqual(await serious(page), [])

  await page.goto(server.url)
  const row = page.getByRole('link', { name: /Albatross II/ })
  await until('the list has it too', async () => isNear(await colourOf(row.locator('img')), [0x20, 0x60, 0xc0]))
  await row.click()
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  await dialog.getByRole('button', { name: 'Remove the photo' }).click()
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await image.waitFor({ state: 'detached' })
  const { device: after } = await api.get(`/api/devices/${device.id}`)
  assert.deepEqual([after.name, after.photo], ['Albatross II', null])
})

test('an invitation is in the language that was chosen for the invited person', async ({ page, browser, api, server }) => {
  await page.goto(`${server.url}/users/new`)
  await page.getByLabel('Name', { exact: true }).fill('Lucía')
  await page.getByLabel('E-mail').fill('lucia@example.com')
  await page.getByLabel('Country').selectOption({ label: 'United Kingdom' })
  await page.getByLabel('Language').selectOption({ label: 'Español' })
  await page.getByRole('button', { name: 'Add user' }).click()
  const mail = await until('the mail is there', () => mailbox.mails.find((text) => /To: .*lucia@example/.test(text)))
  assert.match(plain(mail), /le ha invitado a Perigee/)
  const link = /\/password\?language=es#token=[\w-]+/.exec(plain(mail))[0]

  // Her browser is English: only the link says that she reads Spanish.
  const guest = await visit(browser, server)
  await guest.page.goto(server.url + link)
  await guest.page.getByRole('heading', { name: 'Elija una contraseña' }).waitFor()
  assert.deepEqual(await serious(guest.page), [])
  await guest.page.getByLabel('Contraseña nueva').fill('nine lives of a harbour cat')
  await guest.page.getByLabel('Otra vez la misma').fill('nine lives of a harbour cat')
  await guest.page.getByRole('button', { name: 'Guardar la contraseña' }).click()
  await guest.page.getByRole('navigation', { name: 'Navegación principal' }).waitFor()
  await guest.context.close()
  assert.deepEqual(guest.wrong, [])
  const { users } = await api.get('/api/users?q=lucia')
  assert.equal(users[0].language, 'es')
})

test('a share page names the account unless that is switched off', async ({ page, browser, api, server }) => {
  await api.patch('/api/account', { name: 'Castro Fishing' })
  const device = await api.device('Shared boat')
  await api.locate(device.id, 42.24, -8.72)
  const share = async (named) => {
    await page.goto(`${server.url}/devices/${device.id}`)
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Share Shared boat' })
    await dialog.getByLabel('Title').fill(named ? 'With name' : 'Without name')
    const box = dialog.getByLabel('Show the name “Castro Fishing” on the page')
    assert.equal(await box.isChecked(), true)
    if (!named) await box.uncheck()
    await dialog.getByRole('button', { name: 'Create link' }).click()
    // The new link comes before the older ones.
    await dialog.getByText('The link is ready to share.').waitFor()
    const url = await dialog.getByLabel('Link', { exact: true }).first().inputValue()
    await dialog.getByRole('button', { name: 'QR code and embedding' }).first().click()
    return { url, embed: await dialog.getByText('<iframe').first().innerText() }
  }
  const [named, unnamed] = [await share(true), await share(false)]
  assert.match(named.embed, /title="With name · Castro Fishing"/)
  assert.doesNotMatch(unnamed.embed, /Castro/)

  const stranger = await visit(browser, server)
  await stranger.page.goto(named.url)
  await stranger.page.getByText('Shared by Castro Fishing').waitFor()
  assert.match(await stranger.page.title(), /Castro Fishing/)
  assert.deepEqual(await serious(stranger.page), [])
  await stranger.page.goto(unnamed.url)
  await stranger.page.getByRole('heading', { name: 'Without name' }).waitFor()
  assert.doesNotMatch(await stranger.page.content(), /Castro/)
  await stranger.context.close()
  assert.deepEqual(stranger.wrong, [])
})
