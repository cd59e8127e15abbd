// Who is notified, in words, and as the API takes it.
import { expect, test } from 'vitest'
import device from '$lib/i18n/en/device.json'
import {
  describeEscalation,
  describePeople,
  describeThen,
  type PeopleContext
} from '$lib/notifications/recipients/describePeople'
import { escalationInput, isNobody, noPeople, nobody, thenForm, thenInput } from '$lib/notifications/recipients/people'
import { newRecipient, type RecipientForm } from '$lib/notifications/recipients/routing'

const table: Record<string, string> = device
const words: PeopleContext = {
  say: (key, values = {}) => {
    const bare = key.replace('device.', '')
    const text = table[bare] ?? table[`${bare}_${values.count === 1 ? 'one' : 'other'}`]
    if (text === undefined) throw new Error(`no message ${key}`)
    return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
  },
  language: 'en',
  nameOf: { user: () => 'Leo', contactGroup: () => 'Night watch', webhook: () => 'Hook' }
}
const recipient = (change: Partial<RecipientForm>): RecipientForm => ({ ...newRecipient('en', 'metric'), ...change })
const ana = recipient({ channel: 'sms', address: '+34600123456', name: 'Ana' })
const office = recipient({ address: 'office@example.com' })
const night = { anyTime: false, from: '18:00', to: '06:00' }

test('people with the same hours stand together', () => {
  const people = {
    ...noPeople(),
    recipients: [
      { ...ana, ...night },
      { ...office, ...night }
    ]
  }
  expect(describePeople(words, people)).toBe('Ana by SMS and office@example.com by e-mail; between 18:00 and 06:00')
  const mixed = { ...noPeople(), recipients: [{ ...ana, ...night }, office] }
  expect(describePeople(words, mixed)).toBe('Ana by SMS; between 18:00 and 06:00 · office@example.com by e-mail')
  expect(describePeople(words, noPeople())).toBe('')
})

test('users, groups and webhooks are named, with the severity from which on', () => {
  const then = {
    ...nobody(),
    users: [{ id: 'usr_1', minimumSeverity: 'critical' as const, schedule: null }],
    contactGroups: [{ id: 'ctg_1', minimumSeverity: 'info' as const, schedule: null }],
    webhooks: [{ id: 'whk_1', minimumSeverity: 'info' as const, schedule: null }]
  }
  expect(describeThen(words, then)).toBe(
    'Leo by e-mail; critical alerts only · Night watch (contact group) and Hook (webhook)'
  )
  expect(isNobody(then)).toBe(false)
})

test('steps are described in the order of their minutes', () => {
  const step = (afterMinutes: number, recipients: RecipientForm[]) => ({ ...noPeople(), recipients, afterMinutes })
  const escalation = { steps: [step(15, [office]), step(5, [ana])], repeatMinutes: 30, repeatTimes: 10 }
  expect(describeEscalation(words, escalation)).toEqual([
    'If nobody acknowledges within 5 minutes: Ana by SMS.',
    'If nobody acknowledges within 15 minutes: office@example.com by e-mail.',
    'Then everybody is notified again every 30 minutes, at most 10 times.'
  ])
  expect(escalationInput(escalation)?.steps.map(({ afterMinutes }) => afterMinutes)).toEqual([5, 15])
  expect(escalationInput({ ...escalation, repeatMinutes: null })?.repeatTimes).toBeNull()
  expect(escalationInput({ ...escalation, steps: [] })).toBeNull()
})

test('what was read is sent back as it was', () => {
  const then = {
    recipients: [
      {
        channel: 'email' as const,
        address: 'a@example.com',
        name: null,
        minimumSeverity: 'info' as const,
        schedule: null,
        timeZone: null,
        units: 'metric' as const,
        language: 'en'
      }
    ],
    users: [],
    contactGroups: [],
    webhooks: [],
    escalation: null
  }
  expect(thenInput(thenForm(then))).toEqual(then)
})
