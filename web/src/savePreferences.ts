// Preferences are kept with the user on the server as well, so that they are the same in another browser.
import { api, ok } from './api/client'
import { prefer, type Preferences } from './preferences.svelte'

/** Changes preferences here at once and on the server when it can keep them; whether it could. */
export async function keep(change: Partial<Preferences>): Promise<boolean> {
  prefer(change)
  try {
    await ok(api.PATCH('/api/session/preferences', { body: change }))
    return true
  } catch {
    return false
  }
}

type Kept = Partial<Record<keyof Preferences, string | null>>

/** Takes over what the server has kept. A language that was never chosen there is the one chosen before signing in. */
export function adopt(kept: Kept | undefined): void {
  if (!kept) return
  const { language, units, theme, timeZone } = kept
  const chosen: Kept = { ...(language ? { language } : {}), ...(units ? { units } : {}), ...(theme ? { theme } : {}) }
  prefer({ ...(chosen as Partial<Preferences>), ...(timeZone === undefined ? {} : { timeZone }) })
}
