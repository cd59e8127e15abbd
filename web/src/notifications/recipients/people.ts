// Recipients of alerts as form values: addresses, users, contact groups, webhooks and escalation steps.
import type { Schemas } from '$lib/api/client'
import { formOf, inputOf, type RecipientForm, type RoutedWebhook } from './routing'

export type RoutedUser = Schemas['RoutedUser']
export type RoutedContacts = Schemas['RoutedContacts']

export interface PeopleForm {
  recipients: RecipientForm[]
  users: RoutedUser[]
  contactGroups: RoutedContacts[]
}

export interface StepForm extends PeopleForm {
  afterMinutes: number
}

export interface EscalationForm {
  steps: StepForm[]
  /** Null for no repetition. */
  repeatMinutes: number | null
  repeatTimes: number
}

export interface ThenForm extends PeopleForm {
  webhooks: RoutedWebhook[]
  escalation: EscalationForm | null
}

type Then = Schemas['RuleThen']
type Escalation = Schemas['Escalation']

/** Default number of repetitions. */
export const usualTimes = 10

export const noPeople = (): PeopleForm => ({ recipients: [], users: [], contactGroups: [] })
export const nobody = (): ThenForm => ({ ...noPeople(), webhooks: [], escalation: null })

type NamedPeople = Pick<Then, 'recipients' | 'users' | 'contactGroups'>

export const peopleForm = ({ recipients, users, contactGroups }: NamedPeople): PeopleForm => ({
  recipients: recipients.map(formOf),
  users: [...users],
  contactGroups: [...contactGroups]
})

export function escalationForm(escalation: Escalation | null | undefined): EscalationForm | null {
  if (!escalation) return null
  const steps = escalation.steps.map((step) => ({ ...peopleForm(step), afterMinutes: step.afterMinutes }))
  return {
    steps,
    repeatMinutes: escalation.repeatMinutes ?? null,
    repeatTimes: escalation.repeatTimes ?? usualTimes
  }
}

export const thenForm = (then: Then): ThenForm => ({
  ...peopleForm(then),
  webhooks: [...then.webhooks],
  escalation: escalationForm(then.escalation)
})

export const peopleInput = ({ recipients, users, contactGroups }: PeopleForm) => ({
  recipients: recipients.map(inputOf),
  users: users.map((one) => ({ ...one })),
  contactGroups: contactGroups.map((one) => ({ ...one }))
})

export function escalationInput(form: EscalationForm | null): Schemas['EscalationInput'] | null {
  if (!form || form.steps.length === 0) return null
  const steps = [...form.steps]
    .sort((a, b) => a.afterMinutes - b.afterMinutes)
    .map((step) => ({ ...peopleInput(step), afterMinutes: step.afterMinutes }))
  return {
    steps,
    repeatMinutes: form.repeatMinutes,
    repeatTimes: form.repeatMinutes === null ? null : form.repeatTimes
  }
}

export const thenInput = (form: ThenForm) => ({
  ...peopleInput(form),
  webhooks: form.webhooks.map((one) => ({ ...one })),
  escalation: escalationInput(form.escalation)
})

export const isNobody = ({ recipients, users, contactGroups }: PeopleForm): boolean =>
  recipients.length + users.length + contactGroups.length === 0
