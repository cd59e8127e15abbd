// Land and sea must be distinguishable at a glance, by night as by day.
import { expect, test } from 'vitest'
import { palettes } from '$lib/map/basemap/palette'

/** Relative luminance, as WCAG 2 defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

test.each([
  ['light', 1.2],
  ['dark', 1.6]
] as const)('land and sea differ in the %s palette', (name, least) => {
  const { land, sea, coast, town } = palettes[name]
  expect(contrast(land, sea)).toBeGreaterThan(least)
  expect(luminance(land)).toBeGreaterThan(luminance(sea))
  expect(contrast(coast, sea)).toBeGreaterThan(1.5)
  expect(contrast(town, land)).toBeGreaterThan(4.5)
})
