// Writes a PMTiles file (version 3): a header, directories that say where each tile is, then the tiles, gzipped, in the
// order of a Hilbert curve. Tiles of the same content are written once.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { zxyToTileId } from 'pmtiles'

const headerLength = 127
/** Bytes that a reader fetches first: header and root directory must fit. */
const firstRead = 16_384
const gzip = 2
const vectorTiles = 1

const zipped = (bytes) => gzipSync(bytes, { level: 9 })

/** Numbers of seven bits a byte, the lowest first. */
function varints(numbers) {
  const bytes = []
  for (let number of numbers) {
    for (; number >= 128; number = Math.floor(number / 128)) bytes.push((number % 128) + 128)
    bytes.push(number)
  }
  return Buffer.from(bytes)
}

/** A directory column by column: count, ids as differences, run lengths, lengths, offsets (0: directly after the one before). */
function directory(entries) {
  const ids = entries.map(({ id }, at) => (at === 0 ? id : id - entries[at - 1].id))
  const offsets = entries.map(({ offset }, at) => {
    const before = entries[at - 1]
    return before && offset === before.offset + before.length ? 0 : offset + 1
  })
  const runs = entries.map(({ run }) => run)
  const lengths = entries.map(({ length }) => length)
  return zipped(varints([entries.length, ...ids, ...runs, ...lengths, ...offsets]))
}

/** The root directory, and leaves if the entries do not fit in it. */
function directories(entries) {
  const whole = directory(entries)
  if (headerLength + whole.length <= firstRead) return { root: whole, leaves: Buffer.alloc(0) }
  for (let size = 1024; ; size *= 2) {
    const parts = []
    const roots = []
    let offset = 0
    for (let at = 0; at < entries.length; at += size) {
      const leaf = directory(entries.slice(at, at + size))
      roots.push({ id: entries[at].id, run: 0, offset, length: leaf.length })
      parts.push(leaf)
      offset += leaf.length
    }
    const root = directory(roots)
    if (headerLength + root.length <= firstRead) return { root, leaves: Buffer.concat(parts) }
  }
}

/** The file for tiles `{ z, x, y, bytes }`, with `metadata` as readers show it. */
export function pmtiles(tiles, metadata) {
  const sorted = tiles.map((tile) => ({ ...tile, id: zxyToTileId(tile.z, tile.x, tile.y) })).sort((a, b) => a.id - b.id)
  const places = new Map()
  const contents = []
  const entries = []
  let end = 0
  for (const { id, bytes } of sorted) {
    const hash = createHash('sha256').update(bytes).digest('hex')
    let place = places.get(hash)
    if (!place) {
      const content = zipped(bytes)
      place = { offset: end, length: content.length }
      places.set(hash, place)
      contents.push(content)
      end += content.length
    }
    const last = entries.at(-1)
    if (last && last.offset === place.offset && last.id + last.run === id) last.run++
    else entries.push({ id, run: 1, ...place })
  }
  const { root, leaves } = directories(entries)
  const about = zipped(Buffer.from(JSON.stringify(metadata)))
  const zooms = sorted.map(({ z }) => z)
  const header = Buffer.alloc(headerLength)
  header.write('PMTiles')
  header.writeUInt8(3, 7)
  let at = 8
  let offset = headerLength
  for (const { length } of [root, about, leaves, { length: end }]) {
    header.writeBigUInt64LE(BigInt(offset), at)
    header.writeBigUInt64LE(BigInt(length), at + 8)
    at += 16
    offset += length
  }
  for (const count of [sorted.length, entries.length, contents.length]) {
    header.writeBigUInt64LE(BigInt(count), at)
    at += 8
  }
  header.set([1, gzip, gzip, vectorTiles, Math.min(...zooms), Math.max(...zooms)], 96)
  header.writeInt32LE(-1_800_000_000, 102)
  header.writeInt32LE(-850_511_287, 106)
  header.writeInt32LE(1_800_000_000, 110)
  header.writeInt32LE(850_511_287, 114)
  return Buffer.concat([header, root, about, leaves, ...contents])
}
