// The users, contact groups and webhooks that can be recipients, and the channels of the server.
import { api, ok, type Schemas } from '$lib/api/client'
import { allPages } from '$lib/api/pages'
import { t } from '$lib/i18n/index.svelte'
import { locale } from '$lib/access/preferences.svelte'
import { managesAccount, seesAll } from '$lib/access/session.svelte'
import type { PeopleContext } from './describePeople'

export type ContactGroup = Schemas['ContactGroup']
interface Named {
  id: string
  name: string
}

class Directory {
  users: Named[] = $state.raw([])
  contactGroups: ContactGroup[] = $state.raw([])
  webhooks: Named[] = $state.raw([])
  channels: Schemas['ConsoleChannels'] | null = $state.raw(null)
  #loading: Promise<void> | null = null

  /** Loads everything once. Lists that this user may not read stay empty, and IDs are shown instead of names. */
  load(): Promise<void> {
    this.#loading ??= this.reload()
    return this.#loading
  }

  async reload(): Promise<void> {
    await Promise.all([
      ok(api.GET('/api/console')).then(({ channels }) => (this.channels = channels)),
      seesAll() ? this.#loadPeople() : undefined,
      this.loadWebhooks()
    ]).catch(() => (this.#loading = null))
  }

  /**
   * Only users who manage the account may list webhooks. There are no events about webhooks, so editors reload them.
   */
  async loadWebhooks(): Promise<void> {
    if (!managesAccount()) return
    const { webhooks } = await ok(api.GET('/api/webhooks'))
    this.webhooks = webhooks.map(({ id, name }) => ({ id, name: name ?? id }))
  }

  async #loadPeople(): Promise<void> {
    this.contactGroups = await allPages(
      (query) => ok(api.GET('/api/contactGroups', { params: { query } })),
      (page) => page.contactGroups
    )
    const users = await allPages(
      (query) => ok(api.GET('/api/users', { params: { query } })),
      (page) => page.users
    ).catch(() => [])
    this.users = users.map(({ id, name, email }) => ({ id, name: name || email }))
  }

  put(group: ContactGroup): void {
    this.contactGroups = [...this.contactGroups.filter(({ id }) => id !== group.id), group]
  }

  remove(id: string): void {
    this.contactGroups = this.contactGroups.filter((group) => group.id !== id)
  }
}

export const directory = new Directory()

const nameIn = (list: Named[], id: string): string => list.find((one) => one.id === id)?.name ?? id

/** The context in which `describePeople` describes recipients to this user. */
export const peopleContext = (): PeopleContext => ({
  say: t,
  language: locale(),
  nameOf: {
    user: (id) => nameIn(directory.users, id),
    contactGroup: (id) => nameIn(directory.contactGroups, id),
    webhook: (id) => nameIn(directory.webhooks, id)
  }
})
