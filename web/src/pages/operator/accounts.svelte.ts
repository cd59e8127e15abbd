// The accounts of the server, as operators see and set them.
import { api, ok, okTagged, type Schemas } from '../../api/client'

export type Account = Schemas['OperatorAccount']
export type Invitation = Schemas['Invitation']
export type AccountInput = Pick<Schemas['OperatorAccountNew'], 'name' | 'timeZone' | 'licenses'>

const at = (accountId: string) => ({ path: { accountId } })
const pageSize = 100

class Accounts {
  all: Account[] = $state.raw([])
  next: string | null = $state(null)
  loaded = $state(false)

  /** Loads those whose name holds this, or goes on with them. */
  async load(search: string, more = false): Promise<void> {
    const query = { limit: pageSize, q: search.trim() || undefined, cursor: (more && this.next) || undefined }
    const page = await ok(api.GET('/api/operator/accounts', { params: { query } }))
    this.all = more ? [...this.all, ...page.accounts] : page.accounts
    this.next = page.nextCursor ?? null
    this.loaded = true
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
    this.all = this.all.map((account) => (account.id === id ? changed : account))
  }

  /** Makes an account; the way in for its owner is answered this once. */
  async create(body: Schemas['OperatorAccountNew']): Promise<{ account: Account; invitation: Invitation }> {
    const made = await ok(api.POST('/api/operator/accounts', { body }))
    this.all = [...this.all, made.account]
    return made
  }
}

export const accounts = new Accounts()
