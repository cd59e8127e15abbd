// Saves preferences on the server too, so that they are the same in every browser.
import { api, ok } from '$lib/api/client'
import { setPreferences, type Preferences } from './preferences.svelte'

/** Changes preferences in this browser and on the server; returns whether the server saved them. */
export async function keep(change: Partial<Preferences>): Promise<boolean> {
  setPreferences(change)
  const { language, units, theme, timeZone } = change
  const body = { language, units, theme, timeZone }
  // The clock and the notation of coordinates are those of this browser only.
  if (Object.values(body).every((value) => value === undefined)) return true
  try {
    await ok(api.PATCH('/api/session/preferences', { body }))
    return true
  } catch {
    return false
  }
}

type Kept = Partial<Record<'language' | 'units' | 'theme' | 'timeZone', string | null>>

/** Applies the preferences saved on the server. Without a saved language, the one chosen before signing in stays. */
export function adopt(kept: Kept | undefined): void {
  if (!kept) return
  const { language, units, theme, timeZone } = kept
  const chosen: Kept = { ...(language ? { language } : {}), ...(units ? { units } : {}), ...(theme ? { theme } : {}) }
  setPreferences({ ...(chosen as Partial<Preferences>), ...(timeZone === undefined ? {} : { timeZone }) })
}
