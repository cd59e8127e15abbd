// The actions of a plan that ask for something first.
import { api, ok } from '$lib/api/client'
import { planAt } from '$lib/plans/load'
import type { Plan } from '$lib/plans/plan'

export type Action = 'checkIn' | 'pause' | 'extend' | 'end' | 'cancel'

/** Runs an action. Without minutes a pause has no end. */
export function act(id: string, action: Action, { note, minutes }: { note: string | null; minutes: number | null }) {
  const params = planAt(id)
  const noted = { params, body: { note } }
  const calls: Record<Action, () => Promise<Plan>> = {
    checkIn: () => ok(api.POST('/api/plans/{planId}/checkIn', noted)),
    pause: () => ok(api.POST('/api/plans/{planId}/pause', { params, body: { minutes } })),
    extend: () => ok(api.POST('/api/plans/{planId}/extend', { params, body: { minutes: minutes ?? 60 } })),
    end: () => ok(api.POST('/api/plans/{planId}/end', noted)),
    cancel: () => ok(api.POST('/api/plans/{planId}/cancel', noted))
  }
  return calls[action]()
}
