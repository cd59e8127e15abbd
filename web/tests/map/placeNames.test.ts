// Positions in words are asked for together, once, and again after a failure.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PlaceNames } from '$lib/map/places/placeNames.svelte'

const reader = { language: 'en', units: 'metric' }
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('positions of one moment are asked for in parts of fifty', async () => {
  const asked: number[] = []
  const names = new PlaceNames((at) => {
    asked.push(at.length)
    return Promise.resolve(at.map((one) => `at ${one}`))
  })
  for (let index = 0; index < 120; index++) names.want(index / 2, 1, reader)
  names.want(0.0001, 1, reader)
  await vi.runAllTimersAsync()
  expect(asked).toEqual([50, 50, 20])
  expect(names.words(1, 1, reader)).toBe('at 1,1')
  expect(names.words(0.0003, 1, reader)).toBe('at 0,1')
  names.want(1, 1, reader)
  await vi.runAllTimersAsync()
  expect(asked).toHaveLength(3)
})

test('another language is asked for by itself', async () => {
  const asked: string[] = []
  const names = new PlaceNames((at, { language }) => {
    asked.push(language)
    return Promise.resolve(at.map(() => language))
  })
  names.want(1, 1, reader)
  names.want(1, 1, { ...reader, language: 'es' })
  await vi.runAllTimersAsync()
  expect(asked.sort()).toEqual(['en', 'es'])
  expect(names.words(1, 1, { ...reader, language: 'es' })).toBe('es')
})

test('what failed is asked for again the next time', async () => {
  let isDown = true
  const names = new PlaceNames((at) => (isDown ? Promise.reject(new Error('down')) : Promise.resolve(at)))
  names.want(1, 1, reader)
  await vi.runAllTimersAsync()
  expect(names.words(1, 1, reader)).toBe('')
  isDown = false
  names.want(1, 1, reader)
  await vi.runAllTimersAsync()
  expect(names.words(1, 1, reader)).toBe('1,1')
})
