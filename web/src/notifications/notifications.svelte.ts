// A paged list of notifications (e-mails and SMS), with resending.
import { api, ok, type Schemas } from '$lib/api/client'
import { t } from '$lib/i18n/index.svelte'
import { Paged } from '$lib/ui/list/paged.svelte'
import { showToast, showProblem } from '$lib/ui/feedback/toast.svelte'
import type { Filter } from './filter'

export type Message = Schemas['Notification']
const pageSize = 50

/** Whether a notification can be sent again. */
export const canResend = ({ state }: Message): boolean => ['suppressed', 'failed', 'unclear'].includes(state)

/** The notifications of a filter, newest first. */
export class Messages extends Paged<Message> {
  constructor(filter: () => Filter) {
    super(async (cursor) => {
      const query = { ...filter(), limit: pageSize, cursor }
      const { notifications, nextCursor } = await ok(api.GET('/api/notifications', { params: { query } }))
      return { items: notifications, nextCursor }
    })
  }

  async resend(message: Message): Promise<void> {
    const path = { notificationId: message.id }
    try {
      const { notification } = await ok(api.POST('/api/notifications/{notificationId}/resend', { params: { path } }))
      this.put(notification)
      showToast(t('notifications.resent'))
    } catch (error) {
      showProblem(error)
    }
  }
}
