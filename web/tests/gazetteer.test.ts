// Positions in words, from the gazetteer that ships.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { Gazetteer, positionIn } from '../src/map/gazetteer'
import { compassPoint, inWords, type WordContext } from '../src/map/placeWords'

const file = gunzipSync(readFileSync(new URL('../../map/places.bin', import.meta.url)))
const bytes = new Uint8Array(file).buffer
const english = new Gazetteer(bytes, 'en')
const spanish = new Gazetteer(bytes, 'es')

const context: WordContext = {
  units: 'metric',
  language: 'en',
  away: (distance, point, place) => `${distance} ${point} of ${place}`,
  nauticalMiles: 'nmi'
}

const words = (latitude: number, longitude: number): string => inWords(english.nearest(longitude, latitude)!, context)

test.each([
  [42.2406, -8.7207, 'Vigo, Spain'],
  [42.09, -8.9, '22 km SW of Vigo, Spain'],
  [41.385, 2.173, 'Barcelona, Spain'],
  [69.65, 18.96, 'Tromsø, Norway'],
  [-18.14, 178.44, 'Suva, Fiji']
])('%d, %d is %s', (latitude, longitude, expected) => expect(words(latitude, longitude)).toBe(expected))

test('a position at sea is told from a cape', () => {
  expect(words(43.1, -10.5)).toMatch(/^\d+ km W(NW)? of Cape Finisterre$/)
})

test('both sides of the antimeridian know the same town', () => {
  expect(words(-16.8, 179.99)).toMatch(/Fiji$/)
  expect(words(-16.8, -179.99)).toMatch(/Fiji$/)
})

test('the poles have a nearest place', () => {
  expect(words(90, 0)).toMatch(/km/)
  expect(words(-90, 0)).toMatch(/km/)
})

test('distances are in the units of the user', () => {
  const near = english.nearest(-8.9, 42.09)!
  expect(inWords(near, { ...context, units: 'nautical' })).toMatch(/^12 nmi SW of/)
  expect(inWords(near, { ...context, units: 'imperial', language: 'es' })).toMatch(/^13 mi SW of Vigo, España/)
})

test('the nearest is what looking at all of them finds', () => {
  for (const [longitude, latitude] of [
    [2.5, 46.1],
    [-140, -30],
    [100, 65],
    [178, -40]
  ] as const) {
    const { metres } = english.nearest(longitude, latitude)!
    const other = english.nearest(longitude + 0.0001, latitude)!
    expect(Math.abs(metres - other.metres)).toBeLessThan(200)
  }
})

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

test.each([
  [0, 'N'],
  [359, 'N'],
  [292, 'WNW'],
  [-45, 'NW'],
  [225, 'SW']
])('%d degrees is %s', (degrees, point) => expect(compassPoint(degrees)).toBe(point))
