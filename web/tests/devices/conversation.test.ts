// Tests of the rules of conversations.
import { expect, test } from 'vitest'
import { needsCheck, roomFor, shownCharacters, toneOf } from '$lib/devices/panel/conversation'

test('characters or bytes are counted as the network counts them', () => {
  expect(roomFor('é😀', { maxCharacters: 160, maxBytes: null })).toBe(158)
  expect(roomFor('é😀', { maxCharacters: null, maxBytes: 270 })).toBe(264)
  expect(roomFor('x'.repeat(161), { maxCharacters: 160, maxBytes: null })).toBe(-1)
  expect(roomFor('x', { maxCharacters: null, maxBytes: null })).toBeNull()
})

test('only what the network confirmed is good', () => {
  expect(['handedOver', 'queued', 'sending'].map((state) => toneOf(state as 'queued'))).toEqual([
    'idle',
    'idle',
    'idle'
  ])
  expect([toneOf('delivered'), toneOf('answered')]).toEqual(['good', 'good'])
  expect([toneOf('failed'), toneOf('expired'), toneOf('unclear')]).toEqual(['bad', 'bad', 'warn'])
})

test('the server is asked about texts that are too long, and about all for trackers', () => {
  const billed = { maxCharacters: 160, maxBytes: null, canSend: true, billed: true }
  expect(needsCheck('x'.repeat(160), billed)).toBe(false)
  expect(needsCheck('x'.repeat(161), billed)).toBe(true)
  expect(needsCheck('x', { ...billed, billed: false })).toBe(true)
  expect(needsCheck(' ', { ...billed, billed: false })).toBe(false)
  expect(needsCheck('x'.repeat(161), { ...billed, canSend: false })).toBe(false)
})

test('characters that a network cannot carry are named', () => {
  expect(shownCharacters(['\n', 'é'], 'line break')).toBe('line break  é')
})
