// Tests a rule on history, device by device, so that progress can be shown and the test cancelled.
import { api, ok, type Schemas } from '$lib/api/client'
import type { RuleInput } from './ruleForm'

export type Episode = Schemas['RuleEpisode']

export interface Span {
  from: string
  to: string
}

const longestMs = 31 * 86_400_000
/** Devices per request: few, so that results arrive early. */
const devicesAtOnce = 10

/** The period between two instants, or null if it cannot be tested. */
export function spanOf(from: number, to: number): Span | null {
  if (!(to > from) || to - from > longestMs) return null
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
}

export class DryRunJob {
  episodes: Episode[] = $state.raw([])
  locations = $state(0)
  incomplete: string[] = $state.raw([])
  state: 'idle' | 'running' | 'done' | 'stopped' = $state('idle')
  #run = 0

  stop(): void {
    this.#run++
    if (this.state === 'running') this.state = 'stopped'
  }

  /** Tests a rule, saved or not, for these devices or for all devices of the rule. */
  async start(rule: RuleInput, { from, to }: Span, devices: string[]): Promise<void> {
    const run = ++this.#run
    this.state = 'running'
    this.episodes = []
    this.locations = 0
    this.incomplete = []
    const wanted = devices.length > 0 ? devices : [undefined]
    try {
      for (const device of wanted) {
        let cursor: string | undefined
        do {
          const query = { from, to, device, cursor, limit: devicesAtOnce }
          const page = await ok(api.POST('/api/rules/test', { params: { query }, body: rule }))
          if (run !== this.#run) return
          this.episodes = [...this.episodes, ...page.episodes]
          this.locations += page.locations
          this.incomplete = [...this.incomplete, ...page.incomplete]
          cursor = page.nextCursor ?? undefined
        } while (cursor)
      }
      this.state = 'done'
    } catch (error) {
      if (run === this.#run) this.state = 'idle'
      throw error
    }
  }
}

export interface Fix {
  time: number
  position: [number, number]
}

/** The track of a device in a time range, with the accuracy that a map can show. */
export async function trackOf(deviceId: string, { from, to }: Span): Promise<Fix[]> {
  const query = { from, to, simplify: 15, fields: 'dateTime,latitude,longitude,suspect' }
  const answer = await ok(api.GET('/api/devices/{deviceId}/locations', { params: { path: { deviceId }, query } }))
  // The answer is JSON because no other format was asked for.
  const locations = typeof answer === 'object' && 'locations' in answer ? answer.locations : []
  return locations.flatMap(({ dateTime, latitude, longitude, suspect }) =>
    dateTime === undefined || latitude === undefined || longitude === undefined || suspect
      ? []
      : [{ time: Date.parse(dateTime), position: [longitude, latitude] }]
  )
}
