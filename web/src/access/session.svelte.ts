// The signed-in user and their privileges.
import { api, ok, Problem, type Schemas } from '$lib/api/client'
import { adopt } from './savePreferences'

type Session = Schemas['Session']

interface State {
  /** Whether the server has answered who is signed in. */
  known: boolean
  current: Session | null
}

export const session: State = $state({ known: false, current: null })

/** Asks the server who is signed in. */
export async function loadSession(): Promise<void> {
  try {
    session.current = await ok(api.GET('/api/session'))
    adopt(session.current.preferences)
  } catch (problem) {
    if (!(problem instanceof Problem) || problem.status !== 401) throw problem
    session.current = null
  }
  session.known = true
}

export async function signIn(email: string, password: string, totp?: string): Promise<void> {
  const body = totp ? { email, password, totp } : { email, password }
  await ok(api.POST('/api/session', { body }))
  await loadSession()
}

export async function signOut(): Promise<void> {
  await ok(api.DELETE('/api/session'))
  session.current = null
}

/** Whether the user holds a privilege, including those that `owner` and `admin` imply. */
export const may = (privilege: string): boolean => session.current?.privileges.includes(privilege) ?? false

/** Whether the user sees the whole account, not one group or device. */
export const seesAll = (): boolean => !session.current?.user.group && !session.current?.user.deviceId

/** Whether the user manages the account: an owner or admin of all of it. */
export const managesAccount = (): boolean => (may('owner') || may('admin')) && seesAll()
