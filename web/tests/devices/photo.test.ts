// The photo of a device: how far it is scaled down, and where it is.
import { expect, test, vi } from 'vitest'
import { fitted, photoAddress } from '$lib/devices/form/photo'

vi.hoisted(() => vi.stubGlobal('document', { baseURI: 'https://track.example.com/' }))

test('a photo is scaled down in its proportion, never up', () => {
  expect(fitted(4000, 3000)).toEqual({ width: 800, height: 600 })
  expect(fitted(300, 1600)).toEqual({ width: 150, height: 800 })
  expect(fitted(640, 480)).toEqual({ width: 640, height: 480 })
  expect(fitted(10_000, 1)).toEqual({ width: 800, height: 1 })
})

test('the address of a photo changes with it', () => {
  expect(photoAddress({ id: 'dev_1', photo: null })).toBeNull()
  expect(photoAddress({ id: 'dev_1', photo: 'fil_2' })).toBe('https://track.example.com/api/devices/dev_1/files/fil_2')
})
