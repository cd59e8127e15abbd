// The names of users, for callers who may see them.
import { api, ok } from '$lib/api/client'
import { session } from '$lib/access/session.svelte'

const names = new Map<string, Promise<string | null>>()

/** The name of a user; null if the signed-in user may not see it. */
export function nameOfUser(id: string): Promise<string | null> {
  const own = session.current?.user
  if (own?.id === id) return Promise.resolve(own.name || own.email)
  const known = names.get(id)
  if (known) return known
  const asked = ok(api.GET('/api/users/{userId}', { params: { path: { userId: id } } }))
    .then(({ name, email }) => name || email)
    // Deleted or not visible to this user: only the time is shown.
    .catch(() => null)
  names.set(id, asked)
  return asked
}
