// The preview of a report: its rows are read as they arrive; the first ones are shown, and all are counted and summed.
import { preferences } from '$lib/access/preferences.svelte'
import { answerOf } from '$lib/api/client'
import { reason } from '$lib/ui/feedback/toast.svelte'
import { DaySums, type Row } from './daySums'

/** Number of rows that are shown. */
export const mostShown = 200
/** A preview ends after this many rows; a file has all. */
export const mostRead = 20_000

export class Preview {
  rows: Row[] = $state.raw([])
  /** Sums of each day, for the chart; null until a report is complete. */
  sums: DaySums | null = $state.raw(null)
  count = $state(0)
  /** Whether there are more rows than the preview reads. */
  isCut = $state(false)
  busy = $state(false)
  loaded = $state(false)
  problem: string | null = $state(null)
  #leave = new AbortController()

  /** Runs a report, in place of one that is being read. */
  async run(body: object): Promise<void> {
    this.#leave.abort()
    const { signal } = (this.#leave = new AbortController())
    Object.assign(this, { rows: [], sums: null, count: 0, isCut: false, busy: true, loaded: false, problem: null })
    try {
      await this.#read(body, signal)
      if (!signal.aborted) this.loaded = true
    } catch (error) {
      if (!signal.aborted) this.problem = reason(error)
    } finally {
      if (this.#leave.signal === signal) this.busy = false
    }
  }

  /** Stops reading; the rows that have arrived stay. */
  cancel(): void {
    this.#leave.abort()
    this.busy = false
    this.loaded = true
    this.isCut = true
  }

  async #read(body: object, signal: AbortSignal): Promise<void> {
    const answer = await answerOf('/api/reports/run?format=ndjson', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal
    })
    const sums = new DaySums(preferences.timeZone)
    const shown: Row[] = []
    for await (const row of rowsOf(answer)) {
      if (signal.aborted) return
      if (this.count === mostRead) {
        this.isCut = true
        break
      }
      this.count++
      sums.add(row)
      if (shown.length < mostShown) {
        shown.push(row)
        if (shown.length === mostShown) this.rows = shown
      }
    }
    this.rows = shown
    this.sums = sums
  }
}

/** The rows of an answer with a row in each line, as they arrive. */
export async function* rowsOf(answer: Response): AsyncGenerator<Row> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      const lines = (rest + (value ?? '')).split('\n')
      rest = done ? '' : (lines.pop() ?? '')
      for (const line of lines) if (line.trim()) yield JSON.parse(line) as Row
      if (done) return
    }
  } finally {
    // Ends the work of the server if the rest is not wanted.
    await reader.cancel().catch(() => undefined)
  }
}
