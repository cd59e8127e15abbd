// Reads routes, tracks and waypoints of a GPX file. The file may come from anywhere, so its size, its tags and its points
// are bounded, entities of its own are refused, and nothing in it is interpreted but names, positions and times.
import { LineSimplifier } from '$lib/map/track/lineSimplifier'

export interface GpxPoint {
  latitude: number
  longitude: number
  name: string | null
  /** As ISO 8601; null if the point has no time. */
  time: string | null
}

export interface GpxLine {
  kind: 'route' | 'track' | 'waypoints'
  name: string | null
  points: GpxPoint[]
}

export type GpxFault = 'tooLarge' | 'unreadable' | 'notGpx' | 'empty' | 'badPosition' | 'tooManyPoints'

/** Why a file cannot be used; `point` is the number of the invalid point. */
export class GpxError extends Error {
  constructor(
    readonly fault: GpxFault,
    readonly point = 0
  ) {
    super(fault)
  }
}

/** The longest file that is read, in bytes: a voyage of months with a point a minute. */
export const mostBytes = 20_000_000
const mostPoints = 200_000
const longestTag = 4_096
const longestName = 200
/** Extensions nest deeply; a file that nests deeper is not one of a navigation program. */
const deepest = 32

interface Tag {
  name: string
  attributes: string
  kind: 'open' | 'close' | 'empty'
  /** Where the text after it begins. */
  end: number
}

const lineOf = { rte: 'route', trk: 'track' } as const
const pointTags = ['rtept', 'trkpt', 'wpt']

/** Routes first, then tracks, then the waypoints outside of both. */
export function readGpx(text: string): GpxLine[] {
  const lines: GpxLine[] = []
  const loose: GpxLine = { kind: 'waypoints', name: null, points: [] }
  const path: string[] = []
  let line: GpxLine | null = null
  let point: GpxPoint | null = null
  let count = 0
  for (const tag of tagsOf(text)) {
    if (path.length === 0 && (tag.kind === 'close' || tag.name !== 'gpx')) throw new GpxError('notGpx')
    if (tag.kind === 'close') {
      if (path.pop() !== tag.name) throw new GpxError('unreadable')
      if (pointTags.includes(tag.name)) point = null
      if (tag.name in lineOf) line = null
      if (path.length === 0) break
      continue
    }
    const parent = path.at(-1)
    if (parent === 'gpx' && (tag.name === 'rte' || tag.name === 'trk')) {
      line = { kind: lineOf[tag.name], name: null, points: [] }
      lines.push(line)
    } else if (isPointOf(tag.name, parent)) {
      if (++count > mostPoints) throw new GpxError('tooManyPoints')
      point = { ...positionOf(tag.attributes, count), name: null, time: null }
      ;(line ?? loose).points.push(point)
      if (tag.kind === 'empty') point = null
    } else if (tag.kind === 'open' && parent && pointTags.includes(parent) && point) {
      if (tag.name === 'name') point.name = nameIn(text, tag.end)
      if (tag.name === 'time') point.time = timeIn(text, tag.end)
    } else if (tag.kind === 'open' && tag.name === 'name' && line && (parent === 'rte' || parent === 'trk')) {
      line.name = nameIn(text, tag.end)
    }
    if (tag.kind === 'open') path.push(tag.name)
    if (path.length > deepest) throw new GpxError('unreadable')
  }
  // A file that ends in the middle was not downloaded completely.
  if (path.length > 0) throw new GpxError('unreadable')
  const found = [...lines, loose].filter(({ points }) => points.length > 0)
  if (found.length === 0) throw new GpxError('empty')
  const rank = { route: 0, track: 1, waypoints: 2 }
  return found.sort((a, b) => rank[a.kind] - rank[b.kind])
}

function isPointOf(name: string, parent: string | undefined): boolean {
  if (name === 'rtept') return parent === 'rte'
  return name === 'trkpt' ? parent === 'trkseg' : name === 'wpt' && parent === 'gpx'
}

/** The tags of a text in order, without prefixes of namespaces; comments and instructions are left out. */
function* tagsOf(text: string): Generator<Tag> {
  let at = text.indexOf('<')
  if (at < 0) throw new GpxError('notGpx')
  while (at >= 0) {
    if (text.startsWith('<!--', at)) at = after(text, '-->', at)
    else if (text.startsWith('<![CDATA[', at)) at = after(text, ']]>', at)
    else if (text.startsWith('<?', at)) at = after(text, '?>', at)
    // A document type can define entities that grow without limit.
    else if (text.startsWith('<!', at)) throw new GpxError('unreadable')
    else {
      const tag = tagAt(text, at)
      yield tag
      at = tag.end
    }
    at = text.indexOf('<', at)
  }
}

function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from)
  if (found < 0) throw new GpxError('unreadable')
  return found + mark.length
}

const shape = /^(\/?)(?:[\w.-]+:)?([\w.-]+)(?:\s([^]*?))?(\/?)$/

function tagAt(text: string, at: number): Tag {
  let quote = ''
  for (let end = at + 1; end < Math.min(text.length, at + longestTag); end++) {
    const character = text[end]!
    if (quote) {
      if (character === quote) quote = ''
    } else if (character === '"' || character === "'") quote = character
    else if (character === '>') {
      const [, slash, name, attributes = '', single] = shape.exec(text.slice(at + 1, end)) ?? []
      if (!name) break
      return { name, attributes, kind: slash ? 'close' : single ? 'empty' : 'open', end: end + 1 }
    }
  }
  // Pages of other kinds are HTML or a text.
  throw new GpxError(at === 0 ? 'notGpx' : 'unreadable')
}

function positionOf(attributes: string, point: number): Pick<GpxPoint, 'latitude' | 'longitude'> {
  const value = (name: string): number => {
    const [, text] = new RegExp(`(?:^|\\s)${name}\\s*=\\s*["']([^"']*)["']`).exec(attributes) ?? []
    return text?.trim() ? Number(text) : NaN
  }
  const [latitude, longitude] = [value('lat'), value('lon')]
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) throw new GpxError('badPosition', point)
  return { latitude, longitude }
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text from a position to the next tag. */
function textAt(text: string, from: number): string {
  const isRaw = text.startsWith('<![CDATA[', from)
  const begin = isRaw ? from + '<![CDATA['.length : from
  const end = text.indexOf(isRaw ? ']]>' : '<', begin)
  const raw = text.slice(begin, Math.min(end < 0 ? text.length : end, begin + longestTag))
  if (isRaw) return raw
  return raw.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,4}));/gi, (whole, decimal, hexadecimal, name) => {
    if (name) return entities[name as string] ?? (whole as string)
    const code = decimal ? Number(decimal) : parseInt(hexadecimal as string, 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
  })
}

// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u001f\u007f]+/g
const nameIn = (text: string, from: number): string | null =>
  textAt(text, from).replace(controls, ' ').trim().slice(0, longestName) || null

function timeIn(text: string, from: number): string | null {
  const instant = Date.parse(textAt(text, from).trim())
  return Number.isNaN(instant) ? null : new Date(instant).toISOString()
}

/** The first tolerance with which a line of too many points is simplified, in metres. */
const firstTolerance = 25

/** At most so many points that lie along the same line; points with a name are kept before others. */
export function thinned(points: GpxPoint[], most: number): GpxPoint[] {
  if (points.length <= most) return points
  for (let tolerance = firstTolerance; tolerance < 1e6; tolerance *= 2) {
    const kept = simplified(points, tolerance)
    if (kept.length <= most) return kept
  }
  const step = (points.length - 1) / (most - 1)
  return Array.from({ length: most }, (_, index) => points[Math.round(index * step)]!)
}

function simplified(points: GpxPoint[], tolerance: number): GpxPoint[] {
  const line = new LineSimplifier(tolerance)
  const kept: GpxPoint[] = []
  points.forEach((point, index) => {
    const before = points[index - 1]
    if (!before || (!point.name && line.takes(point.latitude, point.longitude))) {
      if (!before) {
        kept.push(point)
        line.begin(point.latitude, point.longitude)
      }
      return
    }
    // The corner is the last point that lay on the line.
    if (kept.at(-1) !== before) kept.push(before)
    line.begin(before.latitude, before.longitude)
    if (point.name) {
      kept.push(point)
      line.begin(point.latitude, point.longitude)
    } else line.takes(point.latitude, point.longitude)
  })
  const last = points.at(-1)
  if (last && kept.at(-1) !== last) kept.push(last)
  return kept
}
