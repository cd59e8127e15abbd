// Sends the devices of a file to the server: first to check them, then to create all of them.
import { api, ok, type Schemas } from '$lib/api/client'
import { reason } from '$lib/ui/feedback/toast.svelte'
import type { Row } from './csv'

type Report = Schemas['NewDevicesReport']

/** Devices in one request: fewer than the server takes, so that progress is seen. */
export const devicesAtOnce = 2_000

/** What the server says about the rows. */
export interface Checked {
  new: number
  existing: number
  needed: number
  free: number
  /** The rows for which no device can be created, and why. */
  invalid: { row: Row; why: string }[]
}

/** Adds the report about a part to what is known of the parts before. */
export function addReport(before: Checked | null, rows: Row[], report: Report): Checked {
  const invalid = report.rows.flatMap(({ index, problems }) => {
    const row = rows[index]
    return row && problems.length > 0 ? [{ row, why: problems.join(' ') }] : []
  })
  return {
    new: (before?.new ?? 0) + report.new,
    existing: (before?.existing ?? 0) + report.existing,
    needed: (before?.needed ?? 0) + report.licensesNeeded,
    free: report.licensesFree,
    invalid: [...(before?.invalid ?? []), ...invalid]
  }
}

/** Whether all devices can be created. */
export const fits = ({ invalid, needed, free }: Checked): boolean => invalid.length === 0 && needed <= free

export class DeviceImport {
  busy = $state(false)
  checked: Checked | null = $state.raw(null)
  /** Why a request failed. */
  failure: string | null = $state(null)
  created = $state(0)
  #run = 0

  /** Asks the server what it would do; creates nothing. Returns whether all devices can be created. */
  async check(rows: Row[]): Promise<boolean> {
    this.reset()
    return this.#work(async (isCurrent) => {
      let checked: Checked | null = null
      for (const part of partsOf(rows)) {
        checked = addReport(checked, part, await send(part, true))
        if (!isCurrent()) return false
      }
      this.checked = checked
      return checked !== null && fits(checked)
    })
  }

  /** Checks all rows and then creates their devices. Returns how many, or null if it did not finish. */
  async create(rows: Row[]): Promise<number | null> {
    if (!(await this.check(rows))) return null
    const isDone = await this.#work(async (isCurrent) => {
      for (const part of partsOf(rows)) {
        if (!isCurrent()) return false
        this.created += (await send(part, false)).created
      }
      return true
    })
    return isDone ? this.created : null
  }

  /** Forgets what is known, and sends nothing more. */
  reset(): void {
    this.#run++
    this.busy = false
    this.checked = null
    this.failure = null
    this.created = 0
  }

  async #work(task: (isCurrent: () => boolean) => Promise<boolean>): Promise<boolean> {
    const run = this.#run
    const isCurrent = (): boolean => run === this.#run
    this.busy = true
    try {
      return await task(isCurrent)
    } catch (error) {
      if (isCurrent()) this.failure = reason(error)
      return false
    } finally {
      if (isCurrent()) this.busy = false
    }
  }
}

function partsOf(rows: Row[]): Row[][] {
  const count = Math.ceil(rows.length / devicesAtOnce)
  return Array.from({ length: count }, (_, part) => rows.slice(part * devicesAtOnce, (part + 1) * devicesAtOnce))
}

const send = (rows: Row[], dryRun: boolean): Promise<Report> =>
  ok(
    api.POST('/api/bulk/devices', {
      params: { query: { dryRun }, header: dryRun ? {} : { 'Idempotency-Key': crypto.randomUUID() } },
      body: rows.map(({ input }) => input)
    })
  )
