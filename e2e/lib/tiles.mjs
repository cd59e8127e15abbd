// Writes a small map as one file of raster tiles, in version 3 of the PMTiles format. All tiles have the same colour.
import { writeFile } from 'node:fs/promises'
import { deflateSync } from 'node:zlib'

const headerLength = 127

/** Writes the file; `colour` is red, green and blue. */
export async function writeTiles(path, colour, maxZoom = 5) {
  const tile = picture(256, colour)
  // One directory entry covers all tiles: number of entries, first tile ID, run length, length of the tile, offset + 1.
  const count = (4 ** (maxZoom + 1) - 1) / 3
  const directory = Buffer.concat([1, 0, count, tile.length, 1].map(varint))
  const metadata = Buffer.from('{}')
  const header = Buffer.alloc(headerLength)
  header.write('PMTiles', 0, 'latin1')
  header.writeUInt8(3, 7)
  const put = (at, value) => header.writeBigUInt64LE(BigInt(value), at)
  const metadataAt = headerLength + directory.length
  const dataAt = metadataAt + metadata.length
  put(8, headerLength)
  put(16, directory.length)
  put(24, metadataAt)
  put(32, metadata.length)
  put(40, dataAt)
  put(48, 0)
  put(56, dataAt)
  put(64, tile.length)
  put(72, count)
  put(80, 1)
  put(88, 1)
  // Clustered, neither the directory nor the tiles compressed, PNG.
  for (const [at, value] of [[96, 1], [97, 1], [98, 1], [99, 2], [100, 0], [101, maxZoom], [118, 0]]) header.writeUInt8(value, at)
  const degrees = (at, value) => header.writeInt32LE(value * 1e7, at)
  degrees(102, -180)
  degrees(106, -85)
  degrees(110, 180)
  degrees(114, 85)
  await writeFile(path, Buffer.concat([header, directory, metadata, tile]))
}

function varint(value) {
  const bytes = []
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128)
  return Buffer.from([...bytes, value])
}

/** A square PNG of one colour. */
export function picture(size, colour) {
  const row = Buffer.from([0, ...Array.from({ length: size }, () => colour).flat()])
  const head = Buffer.alloc(13)
  head.writeUInt32BE(size, 0)
  head.writeUInt32BE(size, 4)
  head.set([8, 2, 0, 0, 0], 8)
  const pixels = deflateSync(Buffer.concat(Array.from({ length: size }, () => row)))
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))])
}

function chunk(name, data) {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(checksum(named))
  return Buffer.concat([length, named, sum])
}

function checksum(bytes) {
  let sum = ~0
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0)
  }
  return ~sum >>> 0
}
