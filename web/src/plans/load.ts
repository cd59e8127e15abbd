// Loads plans by their state.
import { api, ok } from '$lib/api/client'
import { allPages } from '$lib/api/pages'
import type { Plan, PlanState } from './plan'

interface Filter {
  state?: PlanState
  device?: string
  template?: boolean
}

const allOf = (filter: Filter): Promise<Plan[]> =>
  allPages(
    (query) => ok(api.GET('/api/plans', { params: { query: { ...query, ...filter } } })),
    (page) => page.plans
  )

/** The plans in these states, perhaps only those of a device. */
export async function loadPlans(states: PlanState[], device?: string): Promise<Plan[]> {
  const lists = await Promise.all(states.map((state) => allOf({ state, ...(device ? { device } : {}) })))
  return lists.flat()
}

export const loadTemplates = (): Promise<Plan[]> => allOf({ template: true })

/** One page of the plans of a device or all devices in a state. */
export const pageOfPlans = (state: PlanState, cursor: string | undefined, limit: number) =>
  ok(api.GET('/api/plans', { params: { query: { state, cursor, limit } } }))

export const planAt = (planId: string) => ({ path: { planId } })
