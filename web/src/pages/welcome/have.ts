// The kinds of tracker that a new user may have, and the feeds by which each can report.
import type { IconName } from '$lib/ui/icons'

export const haves = [
  { name: 'inreach', icon: 'satellite', feeds: ['garmin', 'garmin-mapshare'], identifier: 'imei' },
  { name: 'spot', icon: 'satellite', feeds: ['spot', 'spot-feed'], identifier: 'esn' },
  { name: 'zoleo', icon: 'satellite', feeds: ['zoleo'], identifier: 'imei' },
  { name: 'iridium', icon: 'satellite', feeds: ['cloudloop', 'rockblock'], identifier: 'imei' },
  { name: 'globalstar', icon: 'satellite', feeds: ['globalstar'], identifier: 'esn' },
  { name: 'tracker', icon: 'server', feeds: [], identifier: 'imei' },
  { name: 'phone', icon: 'phone', feeds: [], identifier: null },
  { name: 'try', icon: 'play', feeds: [], identifier: 'any' }
] as const satisfies readonly {
  name: string
  icon: IconName
  /** Only feeds that this version of the server has are offered. */
  feeds: readonly string[]
  /** The identifier of the device; a phone has a gateway of its own instead. */
  identifier: 'imei' | 'esn' | 'any' | null
}[]

export type Have = (typeof haves)[number]

/** The kind of device in the URL; without one the demo is offered. */
export const haveIn = (query: URLSearchParams): Have =>
  haves.find(({ name }) => name === query.get('have')) ?? haves[haves.length - 1]!
