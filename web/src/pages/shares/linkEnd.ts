// Why a share link shows nothing. The server answers `not-found` to every such link, so that nobody can probe for
// links; the reason is derived from earlier answers on this page.
export type End = 'over' | 'revoked' | 'nothing'

/** `until` is the end of the link, if it was open on this page before. */
export function endOf(until: string | undefined, now: number): End {
  if (!until) return 'nothing'
  return Date.parse(until) <= now ? 'over' : 'revoked'
}
