import { expect, test } from 'vitest'
import { ringOf, ringParts } from '$lib/map/fleet/badges'
import { colourOf, iconOf } from '$lib/map/fleet/deviceIcons'

test.each([
  ['boat', 'boat'],
  [' Ship ', 'boat'],
  ['CAMIÓN', 'truck'],
  ['person', 'person'],
  ['unicorn', null],
  ['', null],
  [null, null],
  ['constructor', null]
])('the icon of %o is %o', (word, icon) => expect(iconOf(word)).toBe(icon))

test.each([
  [{ colour: 'red' }, 'red'],
  [{ color: '#0AF' }, '#0af'],
  [{ colour: 'url(x)' }, null],
  [{ colour: 'var(--x)' }, null],
  [{}, null]
])('the colour in %o is %o', (tags, colour) => expect(colourOf(tags as Record<string, string>)).toBe(colour))

test('one device of a thousand still has its part of the ring', () => {
  const ring = ringOf([
    ['green', 999],
    ['orange', 0],
    ['red', 1]
  ])
  expect(ring).toEqual([
    ['green', ringParts - 1],
    ['red', 1]
  ])
})

test.each([[[1, 1, 1]], [[5, 3, 900]], [[7]], [[1, 1, 1, 1, 1]]])('the parts for %o fill the ring', (counts) => {
  const ring = ringOf(counts.map((count, index) => [String(index), count]))
  expect(ring.reduce((sum, [, parts]) => sum + parts, 0)).toBe(ringParts)
  expect(ring.every(([, parts]) => parts > 0)).toBe(true)
})
