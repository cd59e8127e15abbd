// Tests of the device panel and its form with answers of the API.
import { expect, test } from 'vitest'
import { formOf, inputOf, inputOfDevice } from '$lib/devices/form/deviceForm'
import { daysBetween, usageOf } from '$lib/devices/panel/limits'
import { findModel, optionsFor, zoneChoices, zoneName } from '$lib/devices/form/trackerModels'
import { accessoriesOf, attributesOf, factsOf } from '$lib/devices/panel/locationFacts'
import { daysKind, formOf as recipientForm, inputOf as recipientInput } from '$lib/notifications/recipients/routing'

test.each([
  [0, null, 2, 'unlimited'],
  [0, 0, 0, 'forbidden'],
  [3, 6, 2, 'open'],
  [4, 6, 2, 'reserve'],
  [6, 6, 2, 'reached'],
  [9, 6, 2, 'reached'],
  [0, 1, 5, 'reserve']
])('%d sent of %s with %d kept is %s', (sent, limit, reserve, state) => {
  expect(usageOf(sent, limit, reserve).state).toBe(state)
})

test('days are counted between dates', () => {
  expect(daysBetween('2026-02-27', '2026-03-01')).toBe(2)
  expect(daysBetween('2026-03-01', '2026-02-28')).toBe(-1)
})

test('every field of a location that was sent is shown', () => {
  const location = {
    dateTime: '2026-05-01T12:00:00Z',
    receivedAt: '2026-05-01T12:00:03Z',
    latitude: 1,
    longitude: 2,
    speed: 0,
    ignition: false,
    inputs: [],
    warnings: ['LowFuel'],
    battery: null,
    attributes: { hatch: 'closed' },
    accessoriesAttributes: [{ name: 'Probe' }]
  }
  expect(factsOf(location).map(({ key }) => key)).toEqual(['speed', 'ignition', 'warnings'])
  expect(attributesOf(location)).toEqual([['hatch', 'closed']])
  expect(accessoriesOf(location)).toEqual([[['name', 'Probe']]])
})

const device = {
  id: 'dev_1',
  name: 'Star',
  identifiers: [],
  decoding: { timeZoneMinutes: 480 },
  tags: { colour: 'red' },
  groups: ['grp_2'],
  state: 'active' as const,
  status: 'online' as const,
  limits: { expires: true, expirationDate: '2026-12-24', dailyEmailLimit: 5, dailySmsLimit: null, criticalReserve: 1 },
  counters: {
    date: '2026-11-15',
    timeZone: 'UTC',
    emailsSent: 0,
    smsSent: 0,
    smsSegments: 0,
    resetsAt: '2026-11-16T00:00:00Z'
  },
  expectedIntervalSeconds: 90,
  creation: '2026-01-01T00:00:00Z',
  lastModified: '2026-01-01T00:00:00Z'
}

test('a device that is not changed gives the same input', () => {
  expect(inputOf(formOf(device))).toEqual(inputOfDevice(device))
  expect(inputOfDevice(device)).toMatchObject({
    expectedIntervalSeconds: 90,
    identifier: null,
    tags: { colour: 'red' }
  })
})

test('a form that was emptied clears', () => {
  const form = {
    ...formOf(device),
    expires: false,
    dailyEmailLimit: undefined,
    tags: [{ key: ' ', value: 'x' }],
    name: ' New '
  }
  expect(inputOf(form)).toMatchObject({
    name: 'New',
    tags: {},
    limits: { expires: false, expirationDate: null, dailyEmailLimit: null }
  })
})

test('a recipient comes back as it was', () => {
  const schedule = { weekdays: ['saturday' as const, 'sunday' as const], from: '20:00', to: '08:00', timeZone: null }
  const recipient = {
    channel: 'sms' as const,
    address: '+34600123456',
    name: null,
    minimumSeverity: 'critical' as const,
    schedule,
    timeZone: null,
    units: 'nautical' as const,
    language: 'es'
  }
  const listed = { ...recipient, status: 'active' }
  expect(recipientInput(recipientForm(listed))).toEqual(recipient)
  expect(recipientInput({ ...recipientForm(listed), anyTime: true }).schedule).toBeNull()
})

test('days are named in few words', () => {
  expect(daysKind(['saturday', 'sunday'])).toBe('weekend')
  expect(daysKind(['monday', 'tuesday', 'wednesday', 'thursday', 'friday'])).toBe('working')
  expect(daysKind(['monday', 'sunday'])).toBe('some')
})

test('a model is found with and without its maker, and tells the options', () => {
  const models = [{ maker: 'Suntech', model: 'ST4300', protocol: 'suntech', options: {} }]
  expect(findModel(models, ' suntech st4300')?.model).toBe('ST4300')
  expect(findModel(models, 'ST4300')?.protocol).toBe('suntech')
  expect(findModel(models, 'my tracker')).toBeUndefined()
  const option = (name: string, protocols: string[]) => ({
    name,
    type: 'boolean' as const,
    values: [],
    protocols,
    meaning: ''
  })
  const options = [option('hbm', ['suntech']), option('ack', ['h02'])]
  expect(optionsFor(options, 'h02').map(({ name }) => name)).toEqual(['ack'])
  expect(optionsFor(options, null)).toHaveLength(2)
})

test('time zones are whole half hours, and what is set', () => {
  expect(zoneName(480)).toBe('UTC+08:00')
  expect(zoneName(-210)).toBe('UTC−03:30')
  expect(zoneChoices(undefined)).toHaveLength(57)
  expect(zoneChoices(345)).toContain(345)
  expect(zoneChoices(-840)).toHaveLength(57)
})
