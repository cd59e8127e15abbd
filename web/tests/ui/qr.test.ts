// The QR code against published vectors, and read back by a reader written here.
import { expect, test } from 'vitest'
import { blocksOf, correctionOf, roomOf, versionFor } from '$lib/ui/qr/codewords'
import { correction } from '$lib/ui/qr/field'
import { alignments, formatBits, qrCode, versionBits } from '$lib/ui/qr/matrix'

test('the correction of a known example', () => {
  const data = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17]
  expect(correction(data, 10)).toEqual([196, 35, 39, 119, 235, 215, 231, 226, 93, 23])
})

test('format and version as the standard lists them', () => {
  expect(formatBits(0).toString(2)).toBe('101010000010010')
  expect(formatBits(5).toString(2)).toBe('100000011001110')
  expect(versionBits(7).toString(2).padStart(18, '0')).toBe('000111110010010100')
})

test('room and marks as the standard lists them', () => {
  expect([1, 2, 7, 10, 15].map(roomOf)).toEqual([26, 44, 196, 346, 655])
  expect(alignments(2)).toEqual([6, 18])
  expect(alignments(7)).toEqual([6, 22, 38])
  expect(alignments(14)).toEqual([6, 26, 46, 66])
  expect([14, 15, 213, 412, 413].map(versionFor)).toEqual([1, 2, 10, 15, null])
})

const masks = [
  (i: number, j: number) => (i + j) % 2,
  (i: number) => i % 2,
  (_: number, j: number) => j % 3,
  (i: number, j: number) => (i + j) % 3,
  (i: number, j: number) => (Math.floor(i / 2) + Math.floor(j / 3)) % 2,
  (i: number, j: number) => ((i * j) % 2) + ((i * j) % 3),
  (i: number, j: number) => (((i * j) % 2) + ((i * j) % 3)) % 2,
  (i: number, j: number) => (((i + j) % 2) + ((i * j) % 3)) % 2
]

/** Reads a code as a scanner does once it has found the modules; i is the row, j the column. */
function read(code: boolean[][]): string {
  const size = code.length
  const version = (size - 17) / 4
  const dark = (i: number, j: number) => code[i]![j]!
  const bits = [
    [8, 0],
    [8, 1],
    [8, 2],
    [8, 3],
    [8, 4],
    [8, 5],
    [8, 7],
    [8, 8],
    [7, 8],
    [5, 8],
    [4, 8],
    [3, 8],
    [2, 8],
    [1, 8],
    [0, 8]
  ]
  const format = parseInt(bits.map(([i, j]) => (dark(i!, j!) ? 1 : 0)).join(''), 2) ^ 0x5412
  const mask = (format >> 10) & 7
  expect(format >> 13).toBe(0)
  const centres = alignments(version)
  const reserved = (i: number, j: number): boolean =>
    (i < 9 && j < 9) ||
    (i < 9 && j >= size - 8) ||
    (i >= size - 8 && j < 9) ||
    i === 6 ||
    j === 6 ||
    (version >= 7 && ((i < 6 && j >= size - 11) || (j < 6 && i >= size - 11))) ||
    centres.some((a) =>
      centres.some(
        (b) =>
          Math.abs(a - i) <= 2 &&
          Math.abs(b - j) <= 2 &&
          !((a === 6 && b === 6) || (a === 6 && b === size - 7) || (a === size - 7 && b === 6))
      )
    )
  const stream: number[] = []
  let upward = true
  for (let j = size - 1; j > 0; j -= 2) {
    if (j === 6) j--
    for (let n = 0; n < size; n++) {
      const i = upward ? size - 1 - n : n
      for (const column of [j, j - 1]) {
        if (!reserved(i, column)) stream.push(Number(dark(i, column)) ^ (masks[mask]!(i, column) === 0 ? 1 : 0))
      }
    }
    upward = !upward
  }
  const words = Array.from({ length: roomOf(version) }, (_, n) => parseInt(stream.slice(n * 8, n * 8 + 8).join(''), 2))
  const blocks: number[][] = Array.from({ length: blocksOf(version) }, () => [])
  const total = words.length - blocks.length * correctionOf(version)
  const short = Math.floor(total / blocks.length)
  const shortOnes = blocks.length - (total % blocks.length)
  let at = 0
  for (let n = 0; n <= short; n++)
    blocks.forEach((block, b) => (n < short || b >= shortOnes) && block.push(words[at++]!))
  const data = blocks.flat()
  for (const block of blocks) {
    const end = Array.from(
      { length: correctionOf(version) },
      (_, n) => words[total + n * blocks.length + blocks.indexOf(block)]
    )
    expect(end).toEqual(correction(block, correctionOf(version)))
  }
  const message = data.map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const width = version < 10 ? 8 : 16
  const length = parseInt(message.slice(4, 4 + width), 2)
  const bytes = Array.from({ length }, (_, n) => parseInt(message.slice(4 + width + n * 8, 12 + width + n * 8), 2))
  return new TextDecoder().decode(new Uint8Array(bytes))
}

test.each([1, 14, 40, 100, 150, 213, 300, 412])('a text of %d bytes is read back', (length) => {
  const text = 'otpauth://totp/Perigee:ana@example.com?secret=ABC'.repeat(9).slice(0, length)
  expect(read(qrCode(text)!)).toBe(text)
})

test('what is too long has no code', () => expect(qrCode('x'.repeat(500))).toBeNull())
