// Why a share link shows nothing. The server answers `not-found` to every such link, so that nobody can probe for
// links; the rest follows from what this page loaded by the link before.
export type End = 'over' | 'revoked' | 'nothing'

/** `until` is the end of the link, if it was ever open on this page. */
export function endOf(until: string | undefined, now: number): End {
  if (!until) return 'nothing'
  return Date.parse(until) <= now ? 'over' : 'revoked'
}
