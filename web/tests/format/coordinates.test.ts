// Coordinates in both notations, and the links that open them.
import { expect, test } from 'vitest'
import { decimalDegrees, degreesMinutes, mapLinks } from '$lib/format/coordinates'

test('degrees and minutes as on a chart', () => {
  expect(degreesMinutes(42.2406, -8.72071)).toBe('42° 14.436′ N, 008° 43.243′ W')
  expect(degreesMinutes(-0.5, 179.9999999)).toBe('00° 30.000′ S, 180° 00.000′ E')
  expect(degreesMinutes(0, 0)).toBe('00° 00.000′ N, 000° 00.000′ E')
})

test('decimal degrees', () => {
  expect(decimalDegrees(42.2406, -8.7207149)).toBe('42.24060, -8.72071')
})

test('links for browsers and for the map application of a phone', () => {
  const hrefs = mapLinks(-17.5, 178.25).map(({ href }) => href)
  expect(hrefs[2]).toBe('geo:-17.500000,178.250000')
  expect(hrefs.slice(0, 2).every((href) => href.startsWith('https://') && href.includes('178.250000'))).toBe(true)
})
