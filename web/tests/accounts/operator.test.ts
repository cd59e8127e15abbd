// The operator's page: problems with the worst first, identifiers in question, and who uses the storage.
import { expect, test } from 'vitest'
import { assignMessage, canAssign, networksMessage, noticeMessage } from '$lib/pages/operator/claims'
import { bytesIn, concerns, trend, type Health } from '$lib/pages/operator/concerns'
import { keyOf, senderOf, shareOf, type Usage } from '$lib/pages/operator/storage'

const now = Date.parse('2026-05-02T12:00:00Z')
const none = { waiting: 0, oldest: null }
const well: Health = {
  version: '0.1.0',
  startedAt: '2026-05-01T00:00:00Z',
  uptimeSeconds: 129_600,
  store: {
    engine: 'sqlite',
    bytes: 5e9,
    freeBytes: 1e11,
    spaceLow: false,
    rawMessagesStored: true,
    damagedRows: 0,
    quarantinedRows: 0,
    accounts: 1,
    users: 1,
    devices: 10
  },
  intake: { writes: 3, locations: 500 },
  messages: { email: none, sms: none, others: none },
  webhooks: none,
  rulesLagSeconds: 1,
  packing: { atWork: false, packed: 0 },
  connections: { open: 12, limit: 10_000 },
  lastBackup: '2026-05-02T03:00:00Z'
}
const found = (change: Partial<Health>, before = change): string[] => {
  const [health, past] = [
    { ...well, ...change },
    { ...well, ...before }
  ]
  return concerns(health, now, [past, past, past, past, health]).map(({ kind, what }) => `${kind} ${what}`)
}

test('a server that is well is said to be', () => {
  expect(found({})).toEqual([])
})

test('each figure has its limits', () => {
  expect(found({ store: { ...well.store, freeBytes: 2e9 } })).toEqual(['warn disk'])
  expect(found({ store: { ...well.store, freeBytes: 1e8 } })).toEqual(['bad disk'])
  expect(found({ store: { ...well.store, freeBytes: null } })).toEqual([])
  const spaceLow = { spaceLow: true, freeBytes: 2e10, diskBytes: 5e11 }
  expect(found({ store: { ...well.store, ...spaceLow } })).toEqual(['warn spaceLow'])
  expect(found({ store: { ...well.store, ...spaceLow, freeBytes: 2e9 } })).toEqual(['warn disk'])
  expect(found({ store: { ...well.store, rawMessagesStored: false } })).toEqual(['bad rawMessages'])
  expect(found({ store: { ...well.store, damagedRows: 1 } })).toEqual(['bad damaged'])
  expect(found({ store: { ...well.store, quarantinedRows: 3 } })).toEqual(['warn quarantined'])
  expect(found({ rulesLagSeconds: 61 })).toEqual(['warn rules'])
  expect(found({ intake: { writes: 10, locations: 1_000 } })).toEqual(['warn intake'])
  expect(found({ intake: { writes: 0, locations: 9_500 } })).toEqual(['bad intake'])
  expect(found({ intake: { writes: 0, locations: 90_000 } }, {})).toEqual([])
  expect(
    found({ messages: { email: { waiting: 4, oldest: '2026-05-02T11:40:00Z' }, sms: none, others: none } })
  ).toEqual(['warn email'])
  expect(
    found({ messages: { email: none, others: none, sms: { waiting: 4, oldest: '2026-05-02T01:00:00Z' } } })
  ).toEqual(['bad sms'])
  expect(found({ webhooks: { waiting: 9, oldest: '2026-05-01T01:00:00Z' } })).toEqual(['warn webhooks'])
  expect(found({ connections: { open: 96, limit: 100 } })).toEqual(['bad connections'])
})

test('a backup is missed only where there should be one', () => {
  expect(found({ lastBackup: null })).toEqual(['warn noBackup'])
  expect(found({ lastBackup: null, uptimeSeconds: 60 })).toEqual(['warn noBackup'])
  expect(found({ lastBackup: '2026-04-01T00:00:00Z' })).toEqual(['warn backup'])
  expect(found({ lastBackup: null, store: { ...well.store, engine: 'postgresql' } })).toEqual([])
})

test('the worst comes first', () => {
  expect(found({ rulesLagSeconds: 100, connections: { open: 99, limit: 100 } })).toEqual([
    'bad connections',
    'warn rules'
  ])
})

test('bytes and trends are drawn in their size', () => {
  expect(bytesIn(999)).toEqual({ value: 999, unit: 'B' })
  expect(bytesIn(5_200_000_000)).toEqual({ value: 5.2, unit: 'GB' })
  expect(trend([0, 5, 10], 100, 20)).toBe('0.0,20.0 50.0,10.0 100.0,0.0')
})

test('an identifier in two networks can be kept where it is', () => {
  const networks = {
    reason: 'parallel',
    known: '203.0.0.0/16',
    other: '198.51.0.0/16',
    foundAt: '2026-05-01T12:00:00Z'
  }
  const holder = { accountId: 'acc_1', accountName: 'Castro', deviceId: 'dev_1', holder: true }
  const other = { ...holder, deviceId: 'dev_2', holder: false }
  const claim = { identifier: '860000000000001', provenAt: '2026-05-01T00:00:00Z', devices: [holder, other] }
  expect(canAssign(claim, holder)).toBe(false)
  expect(canAssign(claim, other)).toBe(true)
  expect(canAssign({ ...claim, networks }, holder)).toBe(true)
  expect(assignMessage({ ...claim, networks }, holder)).toBe('operator.keepWith')
  expect(assignMessage({ ...claim, provenAt: null }, holder)).toBe('operator.giveTo')
  expect(assignMessage(claim, other)).toBe('operator.giveTo')
  expect(['parallel', 'after-proof'].map(networksMessage)).toEqual([
    'operator.claimNetworksParallel',
    'operator.claimNetworksAfterProof'
  ])
})

test('every kind of notice has its message', () => {
  expect(['email-ceiling', 'identifier-contested', 'identifier-networks'].map(noticeMessage)).toEqual([
    'operator.noticeEmailCeiling',
    'operator.noticeContested',
    'operator.noticeNetworks'
  ])
})

test('senders of raw messages are named and compared with the largest', () => {
  const usage: Usage = {
    accountId: 'acc_1',
    accountName: 'Castro',
    gatewayId: 'gtw_1',
    deviceId: null,
    messages: 3,
    bytes: 500,
    unusedBytes: 0,
    droppedMessages: 0,
    droppedBytes: 0
  }
  const device = { ...usage, gatewayId: null, deviceId: 'dev_1', bytes: 2_000 }
  const all = [usage, device, { ...usage, gatewayId: null, bytes: 0 }]
  expect(all.map(senderOf)).toEqual([
    { message: 'operator.storageGateway', id: 'gtw_1' },
    { message: 'operator.storageDevice', id: 'dev_1' },
    { message: 'operator.storageUnknown', id: '' }
  ])
  expect(all.map((each) => shareOf(each, all))).toEqual([25, 100, 0])
  expect(new Set(all.map(keyOf)).size).toBe(3)
})
