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

/** The colour of a state: only what the network confirmed is good. */
export function toneOf(state: State): 'idle' | 'good' | 'warn' | 'bad' {
  if (state === 'delivered' || state === 'answered') return 'good'
  if (state === 'failed' || state === 'expired') return 'bad'
  if (state === 'unclear') return 'warn'
  return 'idle'
}
