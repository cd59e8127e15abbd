// The privileges of users, and whether a user may sign in.
import type { Schemas } from '$lib/api/client'

export type Privilege = Schemas['Privilege']

/** In the order they are offered: the two that imply others first. */
export const privileges: Privilege[] = [
  'owner',
  'admin',
  'devices.write',
  'groups.write',
  'users.write',
  'locations.write',
  'alerts.write',
  'rules.write',
  'commands.send',
  'api'
]

/** Whether a privilege is implied by another granted one. */
export function isImplied(privilege: Privilege, given: readonly string[]): boolean {
  if (privilege === 'owner') return false
  if (given.includes('owner')) return true
  return privilege !== 'admin' && given.includes('admin')
}

/** The privileges without those that others imply. */
export const plain = (given: Privilege[]): Privilege[] =>
  privileges.filter((one) => given.includes(one) && !isImplied(one, given))

export type Standing = 'active' | 'disabled' | 'notYet' | 'over'

interface Validity {
  disabled: boolean
  from?: string | null
  expires?: string | null
}

/** Whether a user may sign in now. */
export function userStateOf({ disabled, from, expires }: Validity, now: number): Standing {
  if (disabled) return 'disabled'
  if (from && Date.parse(from) > now) return 'notYet'
  return expires && Date.parse(expires) <= now ? 'over' : 'active'
}
