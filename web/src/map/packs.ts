// The tiles of the bundled map: they come in packs of sixteen, fetched when the map first shows one of them. The server
// has them in a folder, which may be missing.
import { addProtocol } from 'maplibre-gl'
import { root } from '../api/client'

/** Levels between a pack and its tiles. */
const depth = 2
const side = 2 ** depth
/** Packs that are kept; a pack has some 30 kB. */
const most = 60

export type Level = 'region' | 'local'
/** The zoom level of the tiles of each kind of pack. */
export const levels: Record<Level, number> = { region: 5, local: 7 }

/** The tiles of an unpacked pack: their lengths, four bytes each, then the tiles row by row. */
export function tileIn(pack: ArrayBuffer, column: number, row: number): Uint8Array<ArrayBuffer> {
  const lengths = new DataView(pack, 0, 4 * side * side)
  const wanted = row * side + column
  let begin = lengths.byteLength
  for (let index = 0; index < wanted; index++) begin += lengths.getUint32(4 * index, true)
  return new Uint8Array(pack, begin, lengths.getUint32(4 * wanted, true))
}

/** A file of the bundled map; the browser unpacks it. */
export async function bundledFile(name: string): Promise<ArrayBuffer> {
  const answer = await fetchBundled(name)
  return answer.arrayBuffer()
}

async function fetchBundled(name: string): Promise<Response> {
  const answer = await fetch(new URL(`api/map/bundled/${name}`, root))
  if (!answer.ok) throw new Error(`cannot load ${name}: ${answer.status}`)
  return answer
}

const packs = new Map<string, Promise<ArrayBuffer>>()
let present: Promise<Record<Level, Set<string>>> | undefined

const setOf = (names: string): Set<string> => new Set(names.split(' ').filter(Boolean))

/** Which packs there are: none where there is only sea, or only land, and none at all without the folder. */
function listed(): Promise<Record<Level, Set<string>>> {
  present ??= fetchBundled('packs.json')
    .then((answer) => answer.json() as Promise<Record<Level, string>>)
    .then(({ region, local }) => ({ region: setOf(region), local: setOf(local) }))
  // A failure is not kept.
  present.catch(() => (present = undefined))
  return present
}

/** Whether the server has the bundled map. */
export async function hasBundledMap(): Promise<boolean> {
  return (await listed()).region.size > 0
}

function packOf(name: string): Promise<ArrayBuffer> {
  const known = packs.get(name)
  if (known) {
    // The oldest come first in a Map.
    packs.delete(name)
    packs.set(name, known)
    return known
  }
  const pack = bundledFile(`${name}.bin`)
  packs.set(name, pack)
  pack.catch(() => packs.delete(name))
  const [oldest] = packs.keys()
  if (packs.size > most && oldest !== undefined) packs.delete(oldest)
  return pack
}

export async function tile(level: Level, x: number, y: number): Promise<Uint8Array<ArrayBuffer>> {
  const name = `${Math.floor(x / side)}-${Math.floor(y / side)}`
  if (!(await listed())[level].has(name)) return new Uint8Array()
  // Copied, because the map moves the bytes to its worker.
  return tileIn(await packOf(`${level}-${name}`), x % side, y % side).slice()
}

let isKnown = false

/** Lets sources of the map name tiles as `bundled://region/5/15/12`. */
export function addBundledTiles(): void {
  if (isKnown) return
  isKnown = true
  addProtocol('bundled', async ({ url }) => {
    const [level = '', , x = '', y = ''] = url.slice('bundled://'.length).split('/')
    return { data: await tile(level === 'region' ? 'region' : 'local', Number(x), Number(y)) }
  })
}
