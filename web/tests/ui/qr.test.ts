// QR codes are read back by a decoder, with the frame that readers need.
import decodeQR from 'qr/decode.js'
import { expect, test } from 'vitest'
import { qrCode } from '$lib/ui/qrCode'

/** Pixels for each module. */
const scale = 4

/** Reads the modules as a scanner reads a picture of them. */
function read(code: boolean[][]): string {
  const width = code.length * scale
  const data = new Uint8Array(width * width * 4).fill(255)
  for (let y = 0; y < width; y++) {
    for (let x = 0; x < width; x++) {
      if (code[Math.floor(y / scale)]![Math.floor(x / scale)])
        data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3)
    }
  }
  return decodeQR({ width, height: width, data })
}

test.each([1, 14, 40, 100, 150, 213, 300, 412])('a text of %d bytes is read back', (length) => {
  const text = 'otpauth://totp/Perigee:ana@example.com?secret=ABC'.repeat(9).slice(0, length)
  expect(read(qrCode(text)!)).toBe(text)
})

test('letters beyond ASCII are read back', () => {
  expect(read(qrCode('Peñíscola, 岬')!)).toBe('Peñíscola, 岬')
})

test('a code has a light frame of four modules', () => {
  const code = qrCode('https://track.example.com')!
  const edges = [...code.slice(0, 4), ...code.slice(-4), ...code.map((row) => [...row.slice(0, 4), ...row.slice(-4)])]
  expect(edges.flat().some(Boolean)).toBe(false)
})

test('a text that is too long has no code', () => expect(qrCode('x'.repeat(413))).toBeNull())
