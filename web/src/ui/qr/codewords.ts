// The bytes of a QR code: the text, filled up, with what corrects its errors, as the standard interleaves them.
import { at, correction } from './field'

/** For the medium level: how many bytes correct each block, and how many blocks there are, by version from 1 on. */
const corrections = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24]
const blocks = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10]
const versions = corrections.length

/** All bytes a version has room for. */
export function roomOf(version: number): number {
  let modules = (16 * version + 128) * version + 64
  if (version >= 2) {
    const marks = Math.floor(version / 7) + 2
    modules -= (25 * marks - 10) * marks - 55
  }
  if (version >= 7) modules -= 36
  return Math.floor(modules / 8)
}

export const blocksOf = (version: number): number => at(blocks, version - 1)
export const correctionOf = (version: number): number => at(corrections, version - 1)
const dataRoom = (version: number): number => roomOf(version) - blocksOf(version) * correctionOf(version)

/** How many bits tell the length. */
const lengthBits = (version: number): number => (version < 10 ? 8 : 16)

/** The smallest version with room for so many bytes; null when there is none. */
export function versionFor(bytes: number): number | null {
  for (let version = 1; version <= versions; version++) {
    if (4 + lengthBits(version) + bytes * 8 <= dataRoom(version) * 8) return version
  }
  return null
}

/** The text as bytes, with what they are before them and filled up to the room there is. */
function dataOf(text: Uint8Array, version: number): number[] {
  const bits: number[] = []
  const push = (value: number, length: number): void => {
    for (let bit = length - 1; bit >= 0; bit--) bits.push((value >> bit) & 1)
  }
  const room = dataRoom(version)
  push(0b0100, 4)
  push(text.length, lengthBits(version))
  for (const byte of text) push(byte, 8)
  push(0, Math.min(4, room * 8 - bits.length))
  push(0, (8 - (bits.length % 8)) % 8)
  const data: number[] = []
  for (let index = 0; index < bits.length; index += 8) data.push(parseInt(bits.slice(index, index + 8).join(''), 2))
  for (let pad = 0xec; data.length < room; pad ^= 0xec ^ 0x11) data.push(pad)
  return data
}

export function codewords(text: Uint8Array, version: number): number[] {
  const data = dataOf(text, version)
  const count = blocksOf(version)
  // The last blocks have a byte more when they do not come out even.
  const short = Math.floor(data.length / count)
  const shortOnes = count - (data.length % count)
  const parts: number[][] = []
  for (let index = 0, from = 0; index < count; index++) {
    const length = index < shortOnes ? short : short + 1
    parts.push(data.slice(from, from + length))
    from += length
  }
  const ends = parts.map((part) => correction(part, correctionOf(version)))
  return [...interleave(parts, short + 1), ...interleave(ends, correctionOf(version))]
}

function interleave(parts: number[][], longest: number): number[] {
  const all: number[] = []
  for (let index = 0; index < longest; index++) {
    for (const part of parts) {
      const byte = part[index]
      if (byte !== undefined) all.push(byte)
    }
  }
  return all
}
