// The time from which a share link shows positions; earlier ones stay hidden.
export const sinces = ['now', 'last', 'day', 'week', 'custom'] as const
export type Since = (typeof sinces)[number]

const dayMs = 86_400_000

/** The first instant that is shown, in milliseconds; null for the creation of the link. */
export function sinceOf(since: Since, now: number, lastHeard: number | null, custom: number | null): number | null {
  if (since === 'last') return lastHeard
  if (since === 'day') return now - dayMs
  if (since === 'week') return now - 7 * dayMs
  return since === 'custom' ? custom : null
}

/** HTML that embeds a link in another page. */
export function embedOf(url: string, title: string): string {
  const quoted = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return `<iframe src="${quoted(`${url}?embed`)}" title="${quoted(title)}" width="100%" height="480" style="border:0" loading="lazy"></iframe>`
}
