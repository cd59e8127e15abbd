// Places by name, from the gazetteer that ships.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { Gazetteer, positionIn } from '$lib/map/places/gazetteer'

const file = gunzipSync(readFileSync(new URL('../../../map/places.bin', import.meta.url)))
const bytes = new Uint8Array(file).buffer
const english = new Gazetteer(bytes, 'en')
const spanish = new Gazetteer(bytes, 'es')

test.each([
  ['vigo', 'Vigo'],
  ['tromso', 'Tromsø'],
  ['BARCELO', 'Barcelona'],
  ['new york', 'New York City']
])('searching %s finds %s first', (text, name) => expect(english.search(text, 5)[0]?.name).toBe(name))

test('names are searched and shown in Spanish too', () => {
  expect(spanish.search('cabo de hornos', 3)[0]?.name).toMatch(/Cabo de Hornos/i)
  expect(english.search('cabo de hornos', 3)[0]?.name).toBe('Cape Horn')
})

test('nothing is found for nothing', () => {
  expect(english.search('  ', 5)).toEqual([])
  expect(english.search('qqqqqq', 5)).toEqual([])
})

test.each([
  ['42.2, -8.7', { latitude: 42.2, longitude: -8.7 }],
  ['42.2 -8.7', { latitude: 42.2, longitude: -8.7 }],
  ['91, 0', null],
  ['Vigo', null]
])('the position in %o', (text, position) => expect(positionIn(text)).toEqual(position))
