// Tests of the rules of conversations.
import { expect, test } from 'vitest'
import { roomFor, toneOf } from '$lib/devices/panel/conversation'

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
