// The texts of a notification, for rows of a table and for cards.
import { alertTitle } from '$lib/alerts/names'
import { t, tIfKnown } from '$lib/i18n/index.svelte'
import type { Message } from './notifications.svelte'

const tones = {
  waiting: 'accent',
  sending: 'accent',
  sent: 'good',
  suppressed: 'warn',
  failed: 'bad',
  unclear: 'warn'
} as const

/** Title, recipient, state with its colour, and the reason if there is one. */
export const describe = ({ name, recipient, address, segments, state, deliveredAt, reason }: Message) => ({
  title: tIfKnown(`notifications.event.${name}`) ?? alertTitle(name),
  whom: [
    ...(recipient ? [recipient] : []),
    address,
    ...(segments > 1 ? [t('notifications.segments', { count: segments })] : [])
  ].join(' · '),
  state: t(`notifications.state.${deliveredAt ? 'delivered' : state}`),
  tone: tones[state],
  why: (reason && state === 'suppressed' ? tIfKnown(`notifications.reason.${reason}`) : undefined) ?? reason
})
