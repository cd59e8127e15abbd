import { expect, test } from 'vitest'
import { changes } from '$lib/api/mergePatch'

test('only what differs is sent', () => {
  expect(changes({ name: 'a', min: '1' }, { name: 'b', min: '1' })).toEqual({ name: 'b' })
  expect(changes({ name: 'a' }, { name: 'a' })).toEqual({})
})

test('what is cleared is null, and nothing is the same as null', () => {
  expect(changes({ min: '1' }, { min: null })).toEqual({ min: null })
  expect(changes({ min: undefined }, { min: null })).toEqual({})
})

test('inside an object what is gone is named', () => {
  expect(changes({ tags: { a: '1', b: '2' } }, { tags: { b: '2', c: '3' } })).toEqual({ tags: { a: null, c: '3' } })
})

test('a list is replaced whole', () => {
  expect(changes({ groups: ['a', 'b'] }, { groups: ['b'] })).toEqual({ groups: ['b'] })
})
