// Rules of the conversation with a device: how much of a text is left, and the tone of a state.
import type { Schemas } from '$lib/api/client'

type Link = Schemas['ConversationLink']
type State = Schemas['ConversationMessageState']

const encoder = new TextEncoder()

/** How many characters or bytes a text has left; negative if it is too long, null if the link has no limit. */
export function roomFor(text: string, link: Pick<Link, 'maxCharacters' | 'maxBytes'>): number | null {
  if (link.maxCharacters != null) return link.maxCharacters - [...text].length
  if (link.maxBytes != null) return link.maxBytes - encoder.encode(text).length
  return null
}

/** The tracking intervals that are offered, in minutes. */
export const intervalMinutes = [2, 5, 10, 20, 30, 60, 120, 240] as const

/** Whether the server should be asked about a text: it is too long for one message, or its link may not carry all characters. */
export function needsCheck(
  text: string,
  link: Pick<Link, 'maxCharacters' | 'maxBytes' | 'canSend' | 'billed'>
): boolean {
  if (!link.canSend || text.trim() === '') return false
  return !link.billed || (roomFor(text, link) ?? 0) < 0
}

/** Characters for people: separated, and line breaks by their name. */
export const shownCharacters = (characters: string[], lineEnd: string): string =>
  characters.map((letter) => (letter === '\n' || letter === '\r' ? lineEnd : letter)).join('  ')

/** The colour of a state: only what the network confirmed is good. */
export function toneOf(state: State): 'idle' | 'good' | 'warn' | 'bad' {
  if (state === 'delivered' || state === 'answered') return 'good'
  if (state === 'failed' || state === 'expired') return 'bad'
  if (state === 'unclear') return 'warn'
  return 'idle'
}
