// Fetches the models of trackers that the service knows.
import { api, ok, type Schemas } from '$lib/api/client'

type TrackerModels = Schemas['TrackerModelList']

let loading: Promise<TrackerModels> | null = null

/** Loaded once: the list changes only with the version of the service. */
export function loadTrackerModels(): Promise<TrackerModels> {
  loading ??= ok(api.GET('/api/trackerModels')).catch((error: unknown) => {
    loading = null
    throw error
  })
  return loading
}
