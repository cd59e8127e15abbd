// Share links: their expiry and their addresses.
import { api, ok, root, type Schemas } from '$lib/api/client'

export type Share = Schemas['Share']

/** The offered durations, in hours. */
export const durations = [1, 8, 24, 168] as const
const hourMs = 3_600_000
/** The offered delays of conversations, in minutes. */
export const delays = [0, 15, 60, 360, 1440] as const
/** Maximum duration that the server accepts. */
export const maxDurationMs = 366 * 24 * hourMs

/** The page that a link opens; the API returns its own URL with the same secret. */
export function pageOf(url: string): string {
  const secret = url.split('/').at(-1) ?? ''
  return new URL(`shared/${secret}`, root).href
}

export interface Wanted {
  deviceId?: string
  groupId?: string
  name: string
  /** Milliseconds. */
  from: number | null
  until: number
  showAccount: boolean
  showTrips: boolean
  /** Minutes after which messages are shown; null if none are. */
  conversationDelay: number | null
}

export const untilAfter = (hours: number, now: number): number => now + hours * hourMs

export function createLink(wanted: Wanted): Promise<Share> {
  const { deviceId, groupId, name, from, until, showAccount, showTrips, conversationDelay } = wanted
  const body = {
    deviceId,
    groupId,
    name: name.trim() || undefined,
    from: from === null ? undefined : new Date(from).toISOString(),
    until: new Date(until).toISOString(),
    showAccount,
    showTrips,
    showConversation: conversationDelay !== null,
    conversationDelayMinutes: conversationDelay ?? 0
  }
  return ok(api.POST('/api/shares', { body }))
}

/** The links of a device or a group, newest first. */
export async function linksOf(of: { deviceId?: string; groupId?: string }): Promise<Share[]> {
  const { shares } = await ok(api.GET('/api/shares'))
  return shares
    .filter(({ deviceId, groupId }) => (of.deviceId ? deviceId === of.deviceId : groupId === of.groupId))
    .sort((a, b) => Date.parse(b.creation) - Date.parse(a.creation))
}

export const revokeLink = (shareId: string): Promise<unknown> =>
  ok(api.DELETE('/api/shares/{shareId}', { params: { path: { shareId } } }))

/** Copies a text to the clipboard; false if the browser does not allow it. */
export async function copy(text: string, field: HTMLInputElement | undefined): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Without a secure connection there is no clipboard: the text is selected, so that the user can copy it.
    field?.focus()
    field?.select()
    return false
  }
}
