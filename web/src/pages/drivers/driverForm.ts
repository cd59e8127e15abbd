// The form of a driver and of an assignment, and their conversion from and to the API.
import type { Schemas } from '$lib/api/client'
import { fromField, toField } from '$lib/ui/time/range'

export interface DriverForm {
  name: string
  phone: string
  email: string
  /** Separated by commas, semicolons or line breaks, because a tag may contain blanks. */
  tags: string
  description: string
  /** The user who is this person; empty for none. */
  userId: string
}

export const emptyDriver = (): DriverForm => ({ name: '', phone: '', email: '', tags: '', description: '', userId: '' })

export const formOfDriver = ({ name, phone, email, tags, description, userId }: Schemas['Driver']): DriverForm => ({
  name,
  phone: phone ?? '',
  email: email ?? '',
  tags: tags.join(', '),
  description: description ?? '',
  userId: userId ?? ''
})

/** The tags of a text, each once. */
export const tagsIn = (text: string): string[] => [
  ...new Set(
    text
      .split(/[,;\n]/)
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '')
  )
]

const given = (text: string): string | null => text.trim() || null

export const driverInput = (form: DriverForm): Schemas['DriverInput'] => ({
  name: form.name.trim(),
  phone: given(form.phone),
  email: given(form.email),
  tags: tagsIn(form.tags),
  description: given(form.description),
  userId: form.userId || null
})

export interface AssignmentForm {
  deviceId: string | null
  /** Values of fields for date and time; an empty end is none. */
  from: string
  to: string
}

export const formOfAssignment = (one: Schemas['DriverAssignment'], zone: string | undefined): AssignmentForm => ({
  deviceId: one.deviceId,
  from: toField(Date.parse(one.from), zone),
  to: one.to ? toField(Date.parse(one.to), zone) : ''
})

/** The assignment of a form, or the field that is wrong. */
export function assignmentInput(
  form: AssignmentForm,
  zone: string | undefined
): Schemas['AssignmentInput'] | 'deviceId' | 'from' | 'to' {
  const from = fromField(form.from, zone)
  const to = form.to ? fromField(form.to, zone) : null
  if (!form.deviceId) return 'deviceId'
  if (from === null) return 'from'
  if (form.to && (to === null || to <= from)) return 'to'
  const iso = (instant: number): string => new Date(instant).toISOString()
  return { deviceId: form.deviceId, from: iso(from), to: to === null ? null : iso(to) }
}

/** Newest first; those without an end before the others that begin at the same time. */
export const byTime = (all: Schemas['DriverAssignment'][]): Schemas['DriverAssignment'][] =>
  [...all].sort((a, b) => Date.parse(b.from) - Date.parse(a.from))

/** Whether an assignment is over, is going on or has not begun. */
export function stateOf({ from, to }: Schemas['DriverAssignment'], now: number): 'over' | 'now' | 'later' {
  if (Date.parse(from) > now) return 'later'
  return to && Date.parse(to) <= now ? 'over' : 'now'
}
