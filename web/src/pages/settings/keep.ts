// Preferences are kept with the user on the server as well, so that they are the same in another browser.
import { address } from '../../api/client'
import { prefer, type Preferences } from '../../preferences.svelte'

/** Changes preferences here at once and on the server when it can keep them; whether it could. */
export async function keep(change: Partial<Preferences>): Promise<boolean> {
  prefer(change)
  try {
    const answer = await fetch(address('/api/session/preferences'), {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(change)
    })
    return answer.ok
  } catch {
    return false
  }
}

/** Takes over what the server has kept; what was never chosen there stays as it is here. */
export function adopt(kept: Partial<Record<keyof Preferences, string | null>> | undefined): void {
  const chosen = Object.entries(kept ?? {}).filter(([name, value]) => name in known && value !== null && value !== undefined)
  if (chosen.length > 0) prefer(Object.fromEntries(chosen) as Partial<Preferences>)
}

const known: Record<keyof Preferences, true> = { language: true, units: true, theme: true, timeZone: true }
