// Rules go from the API to the form and back unchanged in every unit, and are described in plain words.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { languages } from '$lib/access/languages'
import { conditionBody, conditionForm, kinds, newCondition, valueOf, type Condition } from '$lib/pages/rules/conditions'
import { conditionErrors, newRule, otherErrors, ruleBody, ruleForm, type Rule } from '$lib/pages/rules/ruleForm'
import { partOf } from '$lib/pages/rules/trackPart'
import { fromUser, toUser } from '$lib/pages/rules/units'
import { describeCondition, describeDays, describeRule, type DescribeContext } from '$lib/pages/rules/describe'

const systems = ['metric', 'imperial', 'nautical'] as const

const every: Condition[] = [
  { type: 'speed', above: 90, clear: 85 },
  { type: 'battery', below: 20 },
  { type: 'temperature', above: -18.5, clear: -20 },
  { type: 'temperature2', below: 4 },
  { type: 'fuel', below: 15 },
  { type: 'fuel2', reached: 99.5 },
  { type: 'rpm', above: 4000 },
  { type: 'mileage', reached: 12345.6 },
  { type: 'sensorTime', number: 2, above: 3600 },
  { type: 'attribute', name: 'door', equals: 'open' },
  { type: 'attribute', name: 'door', equals: true },
  { type: 'attribute', name: 'door', equals: '7' },
  { type: 'attribute', name: 'load', above: 7.25, clear: 7 },
  { type: 'geofence', when: 'leave', geofences: ['geo_1', 'geo_2'] },
  { type: 'route', geofences: ['geo_1'] },
  { type: 'idle', seconds: 600, belowSpeed: 5 },
  { type: 'noMovement', seconds: 86400, radius: 100 },
  { type: 'late' },
  { type: 'offline' },
  { type: 'fuelDrop', by: 10, withinSeconds: 600, tank: 2 },
  { type: 'fuelRise', by: 10, withinSeconds: 300, tank: 1 },
  { type: 'input', number: 3, on: false },
  { type: 'ignition', on: true },
  { type: 'harshBraking', perSecond: 12 },
  { type: 'harshAcceleration', perSecond: 11.5 },
  { type: 'sos' },
  { type: 'tripDistance', above: 200 },
  { type: 'tripDuration', seconds: 14400 },
  { type: 'tripOutsideHours' },
  { type: 'tripPurpose', purpose: 'private' },
  { type: 'tripNoDriver' },
  { type: 'drivingTime', seconds: 16200, breakSeconds: 2700 },
  { type: 'noTrip', seconds: 604800 }
]

test('every kind of condition is there', () => {
  expect([...new Set(every.map(({ type }) => type))].sort()).toEqual(Object.keys(kinds).sort())
})

test.each(systems)('a condition comes back from its form as it was, in %s units', (units) => {
  for (const condition of every) expect(conditionBody(conditionForm(condition, units), units)).toEqual(condition)
})

test('what a person writes is kept to what is shown', () => {
  for (const units of systems) {
    for (const written of [0, 1, 5, 12.5, 55.92, 60, 70.01, 1234.56]) {
      expect(toUser('speed', fromUser('speed', written, units), units)).toBe(written)
    }
  }
  expect(fromUser('speed', 55.92, 'imperial')).toBe(90)
  expect(fromUser('temperature', 32, 'imperial')).toBe(0)
})

test('a new condition begins with round numbers', () => {
  expect(newCondition('speed', 'metric').limit).toBe(90)
  expect(newCondition('speed', 'imperial').limit).toBe(56)
})

test('a value is a number, yes or no, or a text', () => {
  expect(['7', ' true ', 'open', '"7"', '', '1e3'].map(valueOf)).toEqual([7, true, 'open', '7', '', 1000])
})

const rule: Rule = {
  id: 'rul_1',
  name: 'Too fast',
  description: null,
  enabled: true,
  allDevices: false,
  devices: ['dev_1'],
  groups: ['grp_1'],
  conditions: every.slice(0, 2),
  forSeconds: 30,
  coolDownSeconds: 600,
  maxAccuracyMetres: 500,
  schedule: {
    weekdays: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'],
    from: '08:00',
    to: '18:00',
    timeZone: 'Europe/Madrid'
  },
  alertName: null,
  raises: 'SpeedLimit',
  text: 'Slow down',
  critical: true,
  then: { recipients: [], users: [], contactGroups: [], webhooks: [], escalation: null },
  creation: '2026-05-01T12:00:00Z',
  lastModified: '2026-05-01T12:00:00Z'
}

test('a rule comes back from its form as it was', () => {
  const { id, raises, creation, lastModified, ...settings } = rule
  void [id, raises, creation, lastModified]
  expect(ruleBody(ruleForm(rule, 'nautical'), 'nautical')).toEqual(settings)
})

test('a rule for all names nobody', () => {
  const body = ruleBody({ ...newRule('metric'), devices: ['dev_1'], all: true }, 'metric')
  expect([body.devices, body.groups, body.schedule]).toEqual([[], [], null])
})

test('errors of the API stand at their fields', () => {
  const fields = {
    'conditions.1.above': 'a',
    'conditions.1.geofences.0': 'g',
    'conditions.10.clear': 'c',
    name: 'n',
    elsewhere: 'e'
  }
  expect(conditionErrors(fields, 1)).toEqual({ limit: 'a', geofences: 'g' })
  expect(conditionErrors(fields, 10)).toEqual({ clear: 'c' })
  expect(otherErrors(fields)).toEqual(['e'])
})

function words(language: string, units: DescribeContext['units'] = 'metric'): DescribeContext {
  const file = new URL(`../../src/i18n/${language}/rules.json`, import.meta.url)
  const table = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
  return {
    language,
    units,
    duration: (seconds) => `${seconds} s`,
    say: (key, values = {}) => {
      const bare = key.replace('rules.', '')
      const text = table[bare] ?? table[`${bare}_${values.count === 1 ? 'one' : 'other'}`]
      if (text === undefined) throw new Error(`no message ${key}`)
      return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
    },
    nameOf: { device: (id) => `Device ${id}`, group: () => 'Trucks', geofence: (id) => id },
    alert: (name) => name
  }
}

test('a rule is described in one sentence', () => {
  const described = {
    ...rule,
    devices: [],
    conditions: [{ type: 'speed', above: 90 }],
    coolDownSeconds: 0,
    schedule: { ...rule.schedule!, timeZone: null }
  }
  expect(describeRule(words('en'), described)).toBe(
    'When speed is above 90 km/h for 30 s, on weekdays 08:00 to 18:00, for group Trucks: raise “SpeedLimit”, critical.'
  )
  expect(describeRule(words('es'), described)).toBe(
    'Cuando la velocidad es superior a 90 km/h durante 30 s, de lunes a viernes de 08:00 a 18:00, para el grupo Trucks: alerta «SpeedLimit», crítica.'
  )
  expect(describeRule(words('en', 'imperial'), rule)).toContain('speed is above 55.92 mph (clears at 52.82 mph)')
})

test.each(languages.map(({ value }) => value))('every kind of condition has words in %s', (language) => {
  for (const condition of every) expect(describeCondition(words(language), condition)).not.toMatch(/[{}]|undefined/)
})

test('days are named as people do', () => {
  const days = (...names: string[]) => describeDays(words('en'), names)
  expect(days('saturday', 'sunday')).toBe('at weekends')
  expect(days('monday', 'tuesday', 'wednesday', 'friday')).toBe('Mon–Wed, Fri')
  expect(days('friday', 'saturday')).toBe('Fri, Sat')
})

test('long lists are cut', () => {
  const geofences = ['a', 'b', 'c', 'd', 'e']
  expect(describeCondition(words('en'), { type: 'geofence', when: 'enter', geofences })).toBe(
    'it enters a, b, c, or 2 others'
  )
})

test('the part of a track in which a rule held begins and ends where it did', () => {
  const positions: [number, number][] = [
    [0, 0],
    [10, 0],
    [20, 10]
  ]
  expect(partOf([0, 10, 20], positions, 5, 15)).toEqual([
    [5, 0],
    [10, 0],
    [15, 5]
  ])
  expect(partOf([0, 10, 20], positions, 2, 4)).toEqual([
    [2, 0],
    [4, 0]
  ])
  expect(partOf([0, 10, 20], positions, 10, Infinity)).toEqual([
    [10, 0],
    [20, 10]
  ])
})
