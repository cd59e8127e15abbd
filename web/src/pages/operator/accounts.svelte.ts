// The accounts of the server, as operators see and set them.
import { address, api, ok, okTagged, type Schemas } from '$lib/api/client'
import { Paged } from '$lib/ui/list/paged.svelte'

export type Account = Schemas['OperatorAccount']
export type Invitation = Schemas['OwnerInvitation']
export type Usage = Schemas['OperatorUsage']
export type AccountInput = Schemas['OperatorAccountInput']

const at = (accountId: string) => ({ path: { accountId } })
const pageSize = 100

export const sorts = [
  'creation',
  '-creation',
  'name',
  'licenses',
  'devices',
  'users',
  '-lastActivity',
  'lastActivity'
] as const
export type Sort = (typeof sorts)[number]

/** URL of the logo of an account; it changes with the logo. */
export const logoAddress = ({ id, branding }: Account): string =>
  address(`/api/operator/accounts/${encodeURIComponent(id)}/logo?v=${branding.logo ?? ''}`)

/** The accounts whose name contains the search text. */
export class Accounts extends Paged<Account> {
  constructor(search: () => string, sort: () => Sort) {
    super(async (cursor) => {
      const query = { limit: pageSize, q: search().trim() || undefined, sort: sort(), cursor }
      const page = await ok(api.GET('/api/operator/accounts', { params: { query } }))
      return { items: page.accounts, nextCursor: page.nextCursor }
    })
  }

  async read(id: string): Promise<{ account: Account; tag: string | null }> {
    const { data, tag } = await okTagged(api.GET('/api/operator/accounts/{accountId}', { params: at(id) }))
    return { account: data.account, tag }
  }

  async change(id: string, body: AccountInput, tag: string | null): Promise<void> {
    const headers = tag ? { 'If-Match': tag } : {}
    const { account: changed } = await ok(
      api.PATCH('/api/operator/accounts/{accountId}', { params: at(id), body, headers })
    )
    this.put(changed)
  }

  async usage(id: string): Promise<Usage> {
    return (await ok(api.GET('/api/operator/accounts/{accountId}/usage', { params: at(id) }))).usage
  }

  async brand(id: string, branding: { name: string | null; colour: string | null }): Promise<Account> {
    const headers = { 'If-Match': '*' }
    return this.#shown(api.PATCH('/api/operator/accounts/{accountId}', { params: at(id), body: { branding }, headers }))
  }

  async setLogo(id: string, picture: Blob): Promise<Account> {
    return this.#shown(
      api.PUT('/api/operator/accounts/{accountId}/logo', {
        params: at(id),
        headers: { 'Content-Type': picture.type || 'application/octet-stream' },
        // The API's document describes bytes as text.
        body: picture as unknown as string,
        bodySerializer: (body) => body as unknown as BodyInit
      })
    )
  }

  removeLogo(id: string): Promise<Account> {
    return this.#shown(api.DELETE('/api/operator/accounts/{accountId}/logo', { params: at(id) }))
  }

  suspend(id: string, message: string | null): Promise<Account> {
    return this.#shown(api.PUT('/api/operator/accounts/{accountId}/suspension', { params: at(id), body: { message } }))
  }

  resume(id: string): Promise<Account> {
    return this.#shown(api.DELETE('/api/operator/accounts/{accountId}/suspension', { params: at(id) }))
  }

  /** Deletes an account after so many days. */
  remove(id: string, graceDays: number): Promise<Account> {
    const params = { ...at(id), query: { graceDays } }
    return this.#shown(api.DELETE('/api/operator/accounts/{accountId}', { params }))
  }

  restore(id: string): Promise<Account> {
    return this.#shown(api.POST('/api/operator/accounts/{accountId}/restore', { params: at(id) }))
  }

  /** The account in an answer, which replaces the one in the list. */
  async #shown(call: Promise<{ data?: { account: Account }; error?: unknown; response: Response }>): Promise<Account> {
    const { account } = await ok(call)
    this.put(account)
    return account
  }

  /** Creates an account; the invitation of its owner is in this answer only. */
  async create(body: Schemas['OperatorAccountNew']): Promise<{ account: Account; invitation: Invitation }> {
    const made = await ok(api.POST('/api/operator/accounts', { body }))
    this.items = [...this.items, made.account]
    return made
  }
}
