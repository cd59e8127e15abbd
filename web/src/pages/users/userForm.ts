// Converts a user between form values and the API.
import type { Schemas } from '$lib/api/client'
import { instantOf, wallOf } from '$lib/format/zoned'
import { plain, type Privilege } from '$lib/access/privileges'

type User = Schemas['User']
type UserInput = Schemas['UserInput']

export interface UserForm {
  name: string
  email: string
  country: string
  timeZone: string
  /** Empty for the language of their country. */
  language: '' | NonNullable<User['language']>
  description: string
  message: string
  disabled: boolean
  disabledMessage: string
  tags: { key: string; value: string }[]
  privileges: Privilege[]
  /** The whole account, one group or one device. */
  scope: 'all' | 'group' | 'device'
  group: string
  deviceId: string | null
  adminDevices: number | null | undefined
  /** In the local time of the form. */
  from: string
  expires: string
  password: string
}

export const newUser = (timeZone: string, country: string): UserForm => ({
  name: '',
  email: '',
  country,
  timeZone,
  language: '',
  description: '',
  message: '',
  disabled: false,
  disabledMessage: '',
  tags: [],
  privileges: [],
  scope: 'all',
  group: '',
  deviceId: null,
  adminDevices: null,
  from: '',
  expires: '',
  password: ''
})

export function formOf(user: User, zone: string | null): UserForm {
  return {
    name: user.name,
    email: user.email,
    country: user.country ?? '',
    timeZone: user.timeZone,
    language: user.language ?? '',
    description: user.description ?? '',
    message: user.message ?? '',
    disabled: user.disabled,
    disabledMessage: user.disabledMessage ?? '',
    tags: Object.entries(user.tags).map(([key, value]) => ({ key, value: String(value) })),
    privileges: plain(user.privileges),
    scope: user.group ? 'group' : user.deviceId ? 'device' : 'all',
    group: user.group ?? '',
    deviceId: user.deviceId ?? null,
    adminDevices: user.adminDevices ?? null,
    from: user.from ? wallOf(user.from, zone) : '',
    expires: user.expires ? wallOf(user.expires, zone) : '',
    password: ''
  }
}

const text = (value: string): string | null => value.trim() || null

/** Without the password, which is never read and is set separately. */
export function inputOf(form: UserForm, zone: string | null): UserInput {
  return {
    name: form.name.trim(),
    email: form.email.trim(),
    country: form.country,
    timeZone: form.timeZone,
    language: form.language || null,
    description: text(form.description),
    message: text(form.message),
    disabled: form.disabled,
    disabledMessage: text(form.disabledMessage),
    tags: Object.fromEntries(form.tags.filter(({ key }) => key.trim()).map(({ key, value }) => [key.trim(), value])),
    privileges: plain(form.privileges),
    group: form.scope === 'group' ? form.group || null : null,
    deviceId: form.scope === 'device' ? form.deviceId : null,
    adminDevices: form.adminDevices ?? null,
    from: form.from ? instantOf(form.from, zone) : null,
    expires: form.expires ? instantOf(form.expires, zone) : null
  }
}
