// The timeline of an incident.
import { expect, test } from 'vitest'
import type { Schemas } from '$lib/api/client'
import { timelineOf, type Message } from '$lib/pages/alerts/incident'

const alert: Schemas['Alert'] = {
  id: 'alr_1',
  deviceId: 'dev_1',
  dateTime: '2026-05-01T12:00:00Z',
  alertName: 'SOSButton',
  alerts: ['SOSButton'],
  critical: true,
  severity: 'critical',
  attributes: {},
  notifications: [],
  receivedAt: '2026-05-01T12:00:02Z'
}
const message = (change: Partial<Message>): Message => ({
  id: 'ntf_1',
  name: 'SOSButton',
  critical: true,
  step: 0,
  channel: 'sms',
  address: '+34600000000',
  state: 'sent',
  attempts: 1,
  segments: 1,
  creation: '2026-05-01T12:00:03Z',
  ...change
})
const kinds = (all: ReturnType<typeof timelineOf>): string[] => all.map(({ id }) => id)

test('what happened is in order of time', () => {
  const acknowledged = { ...alert, acknowledgedAt: '2026-05-01T12:05:00Z', endedAt: '2026-05-01T13:00:00Z' }
  const sent = message({ sentAt: '2026-05-01T12:00:05Z', deliveredAt: '2026-05-01T12:06:00Z' })
  expect(kinds(timelineOf(acknowledged, [sent]))).toEqual([
    'raised',
    'ntf_1 sent',
    'acknowledged',
    'ntf_1 delivered',
    'ended'
  ])
})

test('a notification that was not sent is listed once', () => {
  expect(kinds(timelineOf(alert, [message({ state: 'suppressed', reason: 'limit' })]))).toEqual([
    'raised',
    'ntf_1 written'
  ])
})

test('an alert that came late says when', () => {
  expect(kinds(timelineOf({ ...alert, receivedAt: '2026-05-01T14:00:00Z' }, []))).toEqual(['raised', 'received'])
})

test('notes stand where they were written, and an acknowledgement without words once', () => {
  const note = {
    id: 'nte_1',
    userId: null,
    name: 'Eva',
    text: 'On my way',
    acknowledges: true,
    creation: '2026-05-01T12:04:00Z'
  }
  const acknowledged = { ...alert, acknowledgedAt: '2026-05-01T12:04:00Z' }
  expect(kinds(timelineOf(acknowledged, [], [note, { ...note, id: 'nte_2', text: null }]))).toEqual([
    'raised',
    'acknowledged',
    'nte_1'
  ])
})
