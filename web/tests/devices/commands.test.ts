// Tests of the form of a command.
import { expect, test } from 'vitest'
import { entryOf, namesOf, valuesOf } from '$lib/commands/values'

test('values are sent as the kind that they are', () => {
  expect(valuesOf('positionPeriodic', { frequency: '60' })).toEqual({ frequency: 60 })
  expect(valuesOf('outputControl', { index: '2', data: '0' })).toEqual({ index: 2, data: 0 })
  expect(valuesOf('alarmSos', { enable: '0' })).toEqual({ enable: false })
  expect(valuesOf('sendSms', { phone: ' +34600 ', message: 'Come home' })).toEqual({
    phone: '+34600',
    message: 'Come home'
  })
  // The server names what is missing.
  expect(valuesOf('setConnection', { server: '', port: '' })).toEqual({})
})

test('text of a protocol is text though it looks like a number', () => {
  expect(entryOf('custom', 'data')).toBe('text')
  expect(valuesOf('custom', { data: '123' })).toEqual({ data: '123' })
  expect(namesOf(['data', 'hex'])).toEqual(['data'])
})
