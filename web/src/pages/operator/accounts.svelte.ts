// The accounts of the server, as operators see and set them.
import { api, ok, okTagged, type Schemas } from '$lib/api/client'
import { Paged } from '$lib/ui/list/paged.svelte'

export type Account = Schemas['OperatorAccount']
export type Invitation = Schemas['Invitation']
export type AccountInput = Schemas['OperatorAccountInput']

const at = (accountId: string) => ({ path: { accountId } })
const pageSize = 100

/** The accounts whose name contains the search text. */
export class Accounts extends Paged<Account> {
  constructor(search: () => string) {
    super(async (cursor) => {
      const query = { limit: pageSize, q: search().trim() || undefined, cursor }
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

  /** Creates an account; the invitation of its owner is in this answer only. */
  async create(body: Schemas['OperatorAccountNew']): Promise<{ account: Account; invitation: Invitation }> {
    const made = await ok(api.POST('/api/operator/accounts', { body }))
    this.items = [...this.items, made.account]
    return made
  }
}
