// The saved reports that the user may see.
import { api, ok, okTagged, type Schemas } from '$lib/api/client'
import { allPages } from '$lib/api/pages'
import type { SavedReport } from './scheduleForm'

class SavedReports {
  all: SavedReport[] = $state.raw([])
  loaded = $state(false)

  async load(): Promise<void> {
    this.all = await allPages(
      (query) => ok(api.GET('/api/reports', { params: { query } })),
      (page) => page.reports
    )
    this.loaded = true
  }

  put(saved: SavedReport): SavedReport {
    const isNew = !this.all.some(({ id }) => id === saved.id)
    this.all = isNew ? [...this.all, saved] : this.all.map((one) => (one.id === saved.id ? saved : one))
    return saved
  }

  async create(body: Schemas['SavedReportInput']): Promise<SavedReport> {
    return this.put(await ok(api.POST('/api/reports', { body })))
  }

  /** Reads one with its entity tag. */
  async read(id: string): Promise<{ saved: SavedReport; tag: string | null }> {
    const { data, tag } = await okTagged(
      api.GET('/api/reports/{savedReportId}', { params: { path: { savedReportId: id } } })
    )
    return { saved: this.put(data), tag }
  }

  async change(id: string, tag: string | null, body: object): Promise<SavedReport> {
    const params = { path: { savedReportId: id }, header: tag ? { 'If-Match': tag } : {} }
    const whole = body as Schemas['SavedReportInput']
    return this.put(await ok(api.PATCH('/api/reports/{savedReportId}', { params, body: whole })))
  }

  async remove(id: string): Promise<void> {
    await ok(api.DELETE('/api/reports/{savedReportId}', { params: { path: { savedReportId: id } } }))
    this.all = this.all.filter((one) => one.id !== id)
  }
}

export const savedReports = new SavedReports()
