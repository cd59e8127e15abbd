// The webhooks of the account, and the operations on them.
import { api, ok, okTagged, type Schemas } from '$lib/api/client'

export type Webhook = Schemas['Webhook']
export type Delivery = Schemas['WebhookDelivery']
export type DeliveryState = Schemas['WebhookDeliveryState']
type Input = Schemas['WebhookInput']

/** Types of events that can be sent; a name that ends with a star stands for all types with this prefix. */
export const eventTypes = [
  'alert.*',
  'location.created',
  'device.*',
  'group.*',
  'user.*',
  'limit.*',
  'alert.created',
  'alert.acknowledged',
  'alert.updated',
  'alert.ended',
  'device.created',
  'device.updated',
  'device.deleted',
  'device.expiring',
  'device.expired',
  'device.reactivated',
  'device.online',
  'device.late',
  'device.offline',
  'limit.email.reached',
  'limit.sms.reached',
  'license.exhausted',
  'group.created',
  'group.updated',
  'group.deleted',
  'user.created',
  'user.updated',
  'user.deleted',
  'webhook.disabled'
]

class Webhooks {
  all: Webhook[] = $state.raw([])
  loaded = $state(false)

  async load(): Promise<void> {
    const all: Webhook[] = []
    let cursor: string | undefined
    do {
      const page = await ok(api.GET('/api/webhooks', { params: { query: { limit: 1000, cursor } } }))
      all.push(...page.webhooks)
      cursor = page.nextCursor ?? undefined
    } while (cursor)
    this.all = all
    this.loaded = true
  }

  #put(webhook: Webhook): void {
    const known = this.all.some(({ id }) => id === webhook.id)
    this.all = known ? this.all.map((other) => (other.id === webhook.id ? webhook : other)) : [...this.all, webhook]
  }

  /** Creates a webhook; only this answer contains its secret. */
  async create(body: Input): Promise<string> {
    const made = await ok(api.POST('/api/webhooks', { body }))
    this.#put(made)
    return made.secret
  }

  /** The current state of a webhook with its entity tag, for a change. */
  async read(id: string): Promise<{ data: Webhook; tag: string | null }> {
    return okTagged(api.GET('/api/webhooks/{webhookId}', { params: { path: { webhookId: id } } }))
  }

  async replace(id: string, body: Input, tag: string | null): Promise<void> {
    const header = tag ? { 'If-Match': tag } : {}
    this.#put(await ok(api.PUT('/api/webhooks/{webhookId}', { params: { path: { webhookId: id }, header }, body })))
  }

  async enable(id: string, enabled: boolean): Promise<void> {
    this.#put(
      await ok(api.PATCH('/api/webhooks/{webhookId}', { params: { path: { webhookId: id } }, body: { enabled } }))
    )
  }

  async remove(id: string): Promise<void> {
    await ok(api.DELETE('/api/webhooks/{webhookId}', { params: { path: { webhookId: id } } }))
    this.all = this.all.filter((webhook) => webhook.id !== id)
  }

  async rotate(id: string): Promise<string> {
    const { secret, ...webhook } = await ok(
      api.POST('/api/webhooks/{webhookId}/rotateSecret', { params: { path: { webhookId: id } } })
    )
    this.#put(webhook)
    return secret
  }

  async deliveries(id: string, state: DeliveryState | '', cursor?: string) {
    const query = { limit: 50, cursor, ...(state ? { state } : {}) }
    return ok(api.GET('/api/webhooks/{webhookId}/deliveries', { params: { path: { webhookId: id }, query } }))
  }

  async retry(id: string, delivery: string): Promise<Delivery> {
    const path = { webhookId: id, deliveryId: delivery }
    return ok(api.POST('/api/webhooks/{webhookId}/deliveries/{deliveryId}/retry', { params: { path } }))
  }

  /** Sends a test message and waits for its result, as long as a receiver may take to answer. */
  async test(id: string): Promise<Delivery> {
    let sent: Delivery = await ok(api.POST('/api/webhooks/{webhookId}/test', { params: { path: { webhookId: id } } }))
    for (let round = 0; round < 20 && sent.attempts === 0 && sent.state === 'waiting'; round++) {
      await new Promise((done) => setTimeout(done, 900))
      const { deliveries } = await this.deliveries(id, '')
      sent = deliveries.find((delivery) => delivery.id === sent.id) ?? sent
    }
    return sent
  }
}

export const webhooks = new Webhooks()
