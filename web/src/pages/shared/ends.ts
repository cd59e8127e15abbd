// Why a share link shows nothing.
export type End = 'waiting' | 'over' | 'revoked' | 'nothing'

/** The server may say, else what was seen of it tells. */
export function endOf(code: string, until: string | undefined, now: number): End {
  if (/expired|over|ended/.test(code)) return 'over'
  if (/revoked|deleted|gone/.test(code)) return 'revoked'
  if (/not-begun|not-yet|early|future/.test(code)) return 'waiting'
  if (!until) return 'nothing'
  return Date.parse(until) <= now ? 'over' : 'revoked'
}
