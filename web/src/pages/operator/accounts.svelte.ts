// The accounts of the server, as operators see and set them.
import { call } from '../developer/calls'

export interface Account {
  id: string
  name: string
  timeZone: string
  licenses: { total: number; used: number; free: number }
  devices: number
  users: number
  lastActivity: string | null
  creation: string
  lastModified: string
}

export interface Invitation {
  email: string
  url: string
  expires: string
}

export interface AccountInput {
  name: string
  timeZone: string
  licenses: { total: number }
}

const path = (id: string): string => `/api/operator/accounts/${encodeURIComponent(id)}`
const pageSize = 100

class Accounts {
  all: Account[] = $state.raw([])
  next: string | null = $state(null)
  loaded = $state(false)

  /** Loads those whose name holds this, or goes on with them. */
  async load(search: string, more = false): Promise<void> {
    const query = new URLSearchParams({ limit: String(pageSize) })
    if (search.trim()) query.set('q', search.trim())
    if (more && this.next) query.set('cursor', this.next)
    const { data } = await call<{ accounts: Account[]; nextCursor?: string }>(`/api/operator/accounts?${query}`)
    this.all = more ? [...this.all, ...data.accounts] : data.accounts
    this.next = data.nextCursor ?? null
    this.loaded = true
  }

  async read(id: string): Promise<{ account: Account; tag: string | null }> {
    const { data, tag } = await call<{ account: Account }>(path(id))
    return { account: data.account, tag }
  }

  async change(id: string, body: AccountInput, tag: string | null): Promise<void> {
    const headers: Record<string, string> = tag ? { 'If-Match': tag } : {}
    const { data } = await call<{ account: Account }>(path(id), { method: 'PATCH', body, headers })
    this.all = this.all.map((account) => (account.id === id ? data.account : account))
  }

  /** Makes an account; the way in for its owner is answered this once. */
  async create(body: AccountInput & { ownerEmail: string }): Promise<{ account: Account; invitation: Invitation }> {
    const { data } = await call<{ account: Account; invitation: Invitation }>('/api/operator/accounts', { method: 'POST', body })
    this.all = [...this.all, data.account]
    return data
  }
}

export const accounts = new Accounts()
