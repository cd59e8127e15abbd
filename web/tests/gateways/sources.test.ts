// Phones are set up by links that hold what the apps expect, and pasted messages reach the server as they were meant.
import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { framesOf, hexLines, isHex } from '$lib/gateways/hex'
import { withIdentifier } from '$lib/gateways/identifiers'
import { fieldsOfReport } from '$lib/pages/gateways/decode/report'
import { devicesOf, sendersText } from '$lib/pages/gateways/raw/senders'
import { qrCode } from '$lib/ui/qrCode'

vi.hoisted(() => vi.stubGlobal('document', { baseURI: 'https://track.example.com/p/devices' }))
const { appLink, apps, phonePage, requestOf, secretIn, setupIn, typedIn } = await import('$lib/gateways/phone')

const secret = 'q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e'
const setup = { app: 'owntracks' as const, secret, name: 'Ana & Zoë' }

test('the page of a phone is what its link says, and the secret is not sent to the server', () => {
  for (const { app } of apps) {
    const page = new URL(phonePage({ ...setup, app }))
    expect(page.pathname + page.search).toBe('/p/phone')
    expect(setupIn(page.hash)).toEqual({ ...setup, app })
    expect(qrCode(page.href)).not.toBeNull()
  }
  expect(qrCode(phonePage({ ...setup, name: 'x'.repeat(200) }))).not.toBeNull()
})

test('a link that is not complete sets nothing up', () => {
  for (const hash of [
    '',
    '#',
    '#app=owntracks',
    `#app=none&secret=${secret}`,
    '#app=osmand&secret=../../api/session'
  ]) {
    expect(setupIn(hash)).toBeNull()
  }
})

test('apps get the address of the gateway of their feed', () => {
  const owntracks = new URL(appLink(setup)!)
  const config = JSON.parse(Buffer.from(owntracks.searchParams.get('inline')!, 'base64').toString('utf8')) as object
  expect(config).toMatchObject({ _type: 'configuration', mode: 3, deviceId: 'Ana & Zoë' })
  expect(config).toMatchObject({ url: `https://track.example.com/p/gateways/owntracks/${secret}` })
  const overland = new URL(appLink({ ...setup, app: 'overland' })!)
  expect(overland.searchParams.get('url')).toBe(`https://track.example.com/p/gateways/overland/${secret}`)
  expect(appLink({ ...setup, app: 'traccar' })).toBeNull()
  expect(typedIn({ ...setup, app: 'osmand' })).toContain(`/gateways/osmand/${secret}?id=Ana%20%26%20Zo%C3%AB&lat={0}`)
  expect(secretIn(`https://x/gateways/osmand/${secret}`)).toBe(secret)
})

test('a position from the browser is the request of the app', () => {
  const fix = { latitude: 42.5, longitude: -8.25, accuracy: 12.4, time: 1_767_225_600_500 }
  const body = (app: (typeof apps)[number]['app']): unknown =>
    JSON.parse(String(requestOf({ ...setup, app }, fix).init.body))
  expect(body('owntracks')).toMatchObject({ _type: 'location', lat: 42.5, lon: -8.25, tst: 1_767_225_600 })
  expect(body('overland')).toMatchObject({
    locations: [{ geometry: { coordinates: [-8.25, 42.5] }, properties: { timestamp: '2026-01-01T00:00:00Z' } }]
  })
  const query = new URL(requestOf({ ...setup, app: 'traccar' }, fix).url).searchParams
  expect([query.get('lat'), query.get('lon'), query.get('timestamp')]).toEqual(['42.5', '-8.25', '1767225600'])
})

test('pasted lines are recognised: digits, objects and text', () => {
  expect(framesOf('78 78 0D\r\n\n  *HQ,1,V1#\n{"text": "x"}\n78:78')).toBe(
    '78780D\n{"text":"*HQ,1,V1#"}\n{"text": "x"}\n7878'
  )
  expect([isHex('7878'), isHex('787'), isHex('##,imei:1')]).toEqual([true, false, false])
})

test('bytes are shown sixteen in a line', () => {
  const lines = hexLines('41'.repeat(17) + '00')
  expect(lines.map(({ at, text }) => [at, text])).toEqual([
    ['0000', 'A'.repeat(16)],
    ['0010', 'A·']
  ])
  expect(hexLines('00'.repeat(100), 2)).toHaveLength(2)
})

test('an identifier that is claimed is added after the others', () => {
  const first = { identifier: 'b', link: null, priority: 4 }
  expect(withIdentifier({ identifier: null, identifiers: [] }, 'a', 'gt06')).toEqual({ identifier: 'a' })
  expect(withIdentifier({ identifier: 'x', identifiers: [first] }, 'a', 'gt06')).toEqual({
    identifiers: [first, { identifier: 'a', link: 'gt06', priority: 5 }]
  })
})

test('every field of a report is shown, where and when first', () => {
  const report = { located: true, rpm: 900, speed: 5, latitude: 1, attributes: { door: true }, alerts: ['SOSButton'] }
  expect(fieldsOfReport(report)).toEqual([
    { name: 'latitude', value: '1' },
    { name: 'speed', value: '5' },
    { name: 'alerts', value: 'SOSButton' },
    { name: 'rpm', value: '900' },
    { name: 'door', value: 'true' }
  ])
})

test('the protocols offered are those of the server', async () => {
  const { protocols } = await import('$lib/gateways/feeds')
  const table = readFileSync('../docs/trackers/README.md', 'utf8')
  const rows = [...table.matchAll(/^\| \[`([\w-]+)`\].*\| (\d+) \|/gm)]
  const documented = rows.map(([, name, port]) => ({ name, port: Number(port) }))
  const byPort = (a: { port: number }, b: { port: number }) => a.port - b.port
  expect(protocols.map(({ name, port }) => ({ name, port })).sort(byPort)).toEqual(documented.sort(byPort))
})

test('a gateway comes back from its form as it was, and its secrets stay', async () => {
  const { feedOf } = await import('$lib/gateways/feeds')
  const { gatewayFormOf, gatewayOptions } = await import('$lib/gateways/gatewayForm')
  const garmin = feedOf('garmin')
  const template = { fields: [{ field: 'level', offset: 0 }] }
  const form = gatewayFormOf(garmin, { name: null, deviceId: null, options: { token: null, template } })
  expect(form.settings).toEqual({})
  const more = JSON.parse(form.more) as Record<string, unknown>
  expect(gatewayOptions(garmin, form, more)).toEqual({ token: null, template })
  expect(gatewayOptions(garmin, { ...form, settings: { token: 'new' } }, more)).toEqual({ token: 'new', template })
  const history = feedOf('garmin-history')
  const options = { url: 'https://example.org', imeis: ['1', '2'], apiKey: null }
  const saved = gatewayFormOf(history, { name: 'x', deviceId: 'dev_1', options })
  expect(saved).toMatchObject({ name: 'x', settings: { url: 'https://example.org', imeis: '1, 2' } })
  expect(gatewayOptions(history, saved, JSON.parse(saved.more) as Record<string, unknown>)).toEqual(options)
})

test('errors of settings are shown with their field', async () => {
  const { feedOf, hasPayload } = await import('$lib/gateways/feeds')
  const { fieldsOfGateway } = await import('$lib/pages/gateways/gateways.svelte')
  const options = ['token', 'sendUrl', 'sendKey', 'sender'].map((name) => `options.${name}`)
  expect(fieldsOfGateway(feedOf('garmin'))).toEqual(['feed', 'name', 'deviceId', ...options, 'options'])
  expect([hasPayload('cloudloop'), hasPayload('iridium'), hasPayload('spot')]).toEqual([true, true, false])
})

test('a raw message of several devices names them', () => {
  const names: Record<string, string> = { dev_1: 'Ana', dev_2: 'Berta', dev_4: 'Delia' }
  const text = (deviceIds: string[], identifier: string | null = null): string =>
    sendersText(
      { deviceId: null, deviceIds, identifier },
      (id) => names[id],
      (some) => `${some} and others`
    )
  expect(text(['dev_1'])).toBe('Ana')
  expect(text(['dev_1', 'dev_2', 'dev_3'])).toBe('Ana, Berta, dev_3')
  expect(text(['dev_1', 'dev_2', 'dev_3', 'dev_4'])).toBe('Ana, Berta, dev_3 and others')
  expect(text([], '860000000000001')).toBe('860000000000001')
  expect(text([])).toBe('–')
  expect(devicesOf({ deviceId: 'dev_1', deviceIds: [], identifier: null })).toEqual(['dev_1'])
})
