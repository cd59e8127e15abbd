// How fast a track is played.
import { expect, test, vi } from 'vitest'
import { rates, Playback } from '$lib/pages/history/playback.svelte'

vi.stubGlobal('cancelAnimationFrame', () => undefined)
const day = 86_400_000
const rateOf = (wanted: object, idle: { from: number; to: number }[] = [], length = day): number => {
  const playback = new Playback()
  playback.reset(0, length, idle)
  playback.rateIndex = rates.findIndex((rate) => JSON.stringify(rate) === JSON.stringify(wanted))
  return playback.rate
}

test('a day takes a minute', () => {
  expect(rateOf({ seconds: 60 })).toBe(1440)
  expect(rateOf({ times: 1440 })).toBe(1440)
})

test('skipped stops take no time', () => {
  expect(rateOf({ seconds: 60 }, [{ from: 0, to: day / 2 }])).toBe(720)
})

test('a short track is not slower than it was', () => {
  expect(rateOf({ seconds: 300 }, [], 10_000)).toBe(1)
})

test('another track on the same clock makes it longer, and stops are played', () => {
  const playback = new Playback()
  playback.reset(1_000, 61_000, [{ from: 1_000, to: 31_000 }])
  playback.widen(0, 120_000)
  expect([playback.from, playback.to]).toEqual([0, 120_000])
  playback.rateIndex = rates.findIndex((rate) => 'seconds' in rate && rate.seconds === 60)
  expect(playback.rate).toBe(2)
})
