// Tests of privileges and validity of users, and of the form of a user.
import { expect, test } from 'vitest'
import { matches } from '$lib/ui/device/deviceSearch'
import { isImplied, plain, userStateOf } from '$lib/access/privileges'
import { formOf, inputOf, newUser } from '$lib/pages/users/userForm'

test('owner and admin imply the rest', () => {
  expect(isImplied('admin', ['owner'])).toBe(true)
  expect(isImplied('owner', ['admin'])).toBe(false)
  expect(plain(['api', 'admin', 'devices.write'])).toEqual(['admin'])
  expect(plain(['alerts.write', 'devices.write'])).toEqual(['devices.write', 'alerts.write'])
})

test.each([
  [{ disabled: true }, 'disabled'],
  [{ disabled: false, from: '2026-06-01T00:00:00Z' }, 'notYet'],
  [{ disabled: false, expires: '2026-05-01T00:00:00Z' }, 'over'],
  [{ disabled: false, from: '2026-04-01T00:00:00Z', expires: '2026-06-01T00:00:00Z' }, 'active']
])('%o is %s', (user, standing) => expect(userStateOf(user, Date.parse('2026-05-01T00:00:00Z'))).toBe(standing))

test('a user comes back as they were, in any zone', () => {
  const user = {
    id: 'usr_1',
    name: 'Ana',
    email: 'ana@example.com',
    country: 'ES',
    timeZone: 'Europe/Madrid',
    disabled: false,
    tags: { team: 'a' },
    privileges: ['devices.write' as const],
    group: 'grp_1',
    from: '2026-05-01T12:00:00.000Z',
    creation: '',
    modification: ''
  }
  expect(inputOf(formOf(user, 'Asia/Kathmandu'), 'Asia/Kathmandu')).toMatchObject({
    name: 'Ana',
    group: 'grp_1',
    deviceId: null,
    from: '2026-05-01T12:00:00.000Z',
    expires: null,
    tags: { team: 'a' }
  })
})

test('a changed scope clears the other one', () => {
  const form = { ...newUser('UTC', 'ES'), scope: 'device' as const, group: 'grp_1', deviceId: 'dev_1' }
  expect(inputOf(form, null)).toMatchObject({ group: null, deviceId: 'dev_1' })
})

test('devices are found by words of name and identifier', () => {
  expect(matches({ name: 'Northern Star', identifier: '300234' }, 'star 3002')).toBe(true)
  expect(matches({ name: 'Northern Star' }, 'south')).toBe(false)
  expect(matches({ name: 'Any' }, '')).toBe(true)
})
