// The forms of the account, its log in words, and mails made safe to show.
import { expect, test } from 'vitest'
import { isShorterRetention } from '$lib/devices/panel/limits'
import { formOf, inputOf, prefixesOf } from '$lib/pages/accounts/accountForm'
import { kindOf, partsOf } from '$lib/pages/accounts/audit'
import { disarm } from '$lib/pages/accounts/htmlPreview'
import { overviewForm, overviewInput } from '$lib/pages/accounts/overview'
import { filterOf, pathOf } from '$lib/notifications/filter'

test('an account that is not changed gives the same input', () => {
  const settings = { expiryNoticeDays: 7, retentionDays: null, emergencyProcedure: null, quickReplies: null }
  const account = {
    id: 'acc_1',
    name: 'Fleet',
    timeZone: 'UTC',
    licenses: { total: 2, used: 1, free: 1 },
    settings,
    creation: '',
    lastModified: ''
  }
  expect(inputOf(formOf(account))).toEqual({ name: 'Fleet', timeZone: 'UTC', settings })
  const typed = { ...formOf(account), quickReplies: ' On our way \n\nHelp is coming\n' }
  expect(inputOf(typed).settings.quickReplies).toEqual(['On our way', 'Help is coming'])
})

test.each([
  [null, 30, true],
  [60, 30, true],
  [30, 60, false],
  [30, null, false],
  [null, null, false]
])('from %s to %s days deletes: %s', (before, after, deletes) =>
  expect(isShorterRetention(before, after)).toBe(deletes)
)

test('beginnings of numbers are read as people write them', () => {
  expect(prefixesOf(' +34, 351;0044\n')).toEqual(['+34', '+351', '+44'])
  expect(prefixesOf('')).toEqual([])
})

test('actions and ids of the log are understood', () => {
  expect(partsOf('device.update')).toEqual({ object: 'device', verb: 'update' })
  expect(partsOf('odd')).toEqual({ object: 'odd', verb: '' })
  expect(['dev_1', 'grp_1', 'usr_1', 'acc_1'].map(kindOf)).toEqual(['device', 'group', 'user', 'other'])
})

test('styles of a mail are put aside and its words are left alone', () => {
  const safe = disarm('<STYLE media="x">p{}</style><p class="a" style = "color:red">a style="b"</p>')
  expect(safe).toBe(
    '<script type="text/plain" data-preview-sheet media="x">p{}</script><p class="a" data-preview-style = "color:red">a style="b"</p>'
  )
})

test('what is looked for stands in the address', () => {
  const query = new URLSearchParams('state=failed&channel=fax&device=dev_1')
  expect(filterOf(query)).toEqual({ state: 'failed', device: 'dev_1' })
  expect(pathOf(query, { state: '', channel: 'sms' })).toBe('/notifications?channel=sms&device=dev_1')
  expect(pathOf(new URLSearchParams('state=failed'), { state: null })).toBe('/notifications')
})

test('readers of a report stay as they are, and new ones begin with what is given', () => {
  const ana = { address: 'ana@example.com', name: 'Ana', units: 'nautical' as const, language: 'es', status: 'active' }
  const report = {
    frequency: 'weekly' as const,
    weekday: 'monday' as const,
    hour: 7,
    recipients: [ana],
    groups: [],
    ungrouped: true
  }
  const form = { ...overviewForm(report), addresses: 'ana@example.com; bob@example.com', hour: '9' }
  expect(overviewInput(form, report, { units: 'metric', language: 'en' })).toEqual({
    ...report,
    hour: 9,
    recipients: [ana, { address: 'bob@example.com', units: 'metric', language: 'en' }]
  })
})
