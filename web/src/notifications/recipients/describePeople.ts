// Describes recipients in words: "Ana by SMS, office@example.com by e-mail; between 18:00 and 06:00". All inputs are
// parameters, so that tests get the same text.
import type { Schemas } from '$lib/api/client'
import type { t } from '$lib/i18n/index.svelte'
import type { EscalationForm, PeopleForm, ThenForm } from './people'
import { daysKind, type RecipientForm } from './routing'

export interface PeopleContext {
  say: typeof t
  language: string
  nameOf: Record<'user' | 'contactGroup' | 'webhook', (id: string) => string>
}

type Schedule = Schemas['Schedule']
type Severity = Schemas['Severity']

/** One recipient, with the hours and severity that apply. */
interface RecipientText {
  who: string
  when: string
}

function hours({ say }: PeopleContext, schedule: Pick<Schedule, 'weekdays' | 'from' | 'to'> | null): string | null {
  if (!schedule) return null
  const between = say('device.between', { from: schedule.from, to: schedule.to })
  const kind = daysKind(schedule.weekdays)
  if (kind === 'all') return between
  const days =
    kind === 'some'
      ? schedule.weekdays.map((day) => say(`device.weekday.${day}`)).join(', ')
      : say(`device.days.${kind}`)
  return `${days} ${between}`
}

function recipientWords(
  words: PeopleContext,
  who: string,
  severity: Severity,
  schedule: Pick<Schedule, 'weekdays' | 'from' | 'to'> | null
): RecipientText {
  const parts = [
    ...(severity === 'info' ? [] : [words.say(`device.onlySeverity.${severity}`)]),
    ...[hours(words, schedule)].filter((part) => part !== null)
  ]
  return { who, when: parts.join(', ') }
}

const scheduleOf = ({ anyTime, days, from, to }: RecipientForm): Pick<Schedule, 'weekdays' | 'from' | 'to'> | null =>
  anyTime ? null : { weekdays: days, from, to }

function all(words: PeopleContext, people: PeopleForm): RecipientText[] {
  const { say, nameOf } = words
  return [
    ...people.recipients.map((one) =>
      recipientWords(
        words,
        say(`device.by.${one.channel}`, { who: one.name || one.address }),
        one.minimumSeverity,
        scheduleOf(one)
      )
    ),
    ...people.users.map((one) =>
      recipientWords(
        words,
        say('device.by.email', { who: nameOf.user(one.id) }),
        one.minimumSeverity,
        one.schedule ?? null
      )
    ),
    ...people.contactGroups.map((one) =>
      recipientWords(
        words,
        say('device.by.group', { who: nameOf.contactGroup(one.id) }),
        one.minimumSeverity,
        one.schedule ?? null
      )
    )
  ]
}

/** People in words, grouped by schedule; empty if there are none. */
export function describePeople(words: PeopleContext, people: PeopleForm, others: RecipientText[] = []): string {
  const groups = new Map<string, string[]>()
  for (const { who, when } of [...all(words, people), ...others]) groups.set(when, [...(groups.get(when) ?? []), who])
  const list = new Intl.ListFormat(words.language, { type: 'conjunction' })
  return [...groups].map(([when, who]) => (when ? `${list.format(who)}; ${when}` : list.format(who))).join(' · ')
}

/** All recipients that a rule or a routing names directly. */
export function describeThen(words: PeopleContext, then: ThenForm): string {
  const hooks = then.webhooks.map((one) =>
    recipientWords(
      words,
      words.say('device.by.webhook', { who: words.nameOf.webhook(one.id) }),
      one.minimumSeverity,
      one.schedule ?? null
    )
  )
  return describePeople(words, then, hooks)
}

/** The steps that follow if nobody acknowledges, one sentence each. */
export function describeEscalation(words: PeopleContext, escalation: EscalationForm | null): string[] {
  if (!escalation) return []
  const steps = [...escalation.steps].sort((a, b) => a.afterMinutes - b.afterMinutes)
  const sentences = steps.map((step) =>
    words.say('device.stepSays', {
      count: step.afterMinutes,
      who: describePeople(words, step) || words.say('device.stepNobody')
    })
  )
  if (escalation.repeatMinutes === null || steps.length === 0) return sentences
  const { repeatMinutes, repeatTimes } = escalation
  return [...sentences, words.say('device.repeatSays', { minutes: repeatMinutes, times: repeatTimes })]
}
