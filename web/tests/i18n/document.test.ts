// Lists that the API's document gives only in prose are compared with it here. Lists that it gives as enums are
// generated (src/api/schema.ts) and need no test.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import en from '$lib/i18n/en'
import { crossings, kinds } from '$lib/pages/rules/conditions'

interface Property {
  description?: string
  pattern?: string
  enum?: string[]
}
const document = JSON.parse(readFileSync('../docs/openapi.json', 'utf8')) as {
  components: { schemas: Record<string, { properties: Record<string, Property> }> }
}
const property = (schema: string, name: string): Property => document.components.schemas[schema]?.properties[name] ?? {}
const choicesOf = ({ pattern = '' }: Property): string[] => /^\^\((.*)\)\$$/.exec(pattern)?.[1]?.split('|') ?? []
const under = (area: Record<string, string>, prefix: string): string[] =>
  Object.keys(area)
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length))

test('the editor knows every type of condition', () => {
  const named = choicesOf(property('RuleCondition', 'type'))
  expect(Object.keys(kinds).sort()).toEqual(named.toSorted())
  expect(under(en.rules, 'kind.').sort()).toEqual(named.toSorted())
})

test('the editor knows every question about a geofence', () => {
  expect([...crossings]).toEqual(choicesOf(property('RuleCondition', 'when')))
})

test('the reasons why a message was suppressed are those of the document', () => {
  const { description = '' } = property('Notification', 'reason')
  expect(under(en.notifications, 'reason.').filter((reason) => !description.includes(reason))).toEqual([])
})

test('every choice that a pattern lists has a message', () => {
  expect(under(en.operator, 'engine.')).toEqual(choicesOf(property('HealthStore', 'engine')))
  expect(under(en.developer, 'usage.via.')).toEqual(choicesOf(property('UsageSeries', 'via')))
  expect(under(en.device, 'recipientStatus.')).toEqual(
    choicesOf(property('Recipient', 'status')).filter((status) => status !== 'active')
  )
})
