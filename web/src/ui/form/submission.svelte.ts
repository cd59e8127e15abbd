// The state of a submitted form: busy, errors of fields, a general problem, or changed by somebody else.
import { isProblem, Problem, type ErrorCode } from '$lib/api/client'
import { t } from '$lib/i18n/index.svelte'
import { reason } from '$lib/ui/feedback/toast.svelte'

/** Error codes that belong to one field although the answer has no pointer. */
const fieldOfCode: Partial<Record<ErrorCode, string>> = {
  'email-taken': 'email',
  'identifier-taken': 'identifier',
  'tag-taken': 'tags',
  'driver-assigned': 'from'
}

type Path<T> = {
  [K in keyof T & string]:
    K | (NonNullable<T[K]> extends unknown[] ? never : `${K}.${keyof NonNullable<T[K]> & string}`)
}[keyof T & string]

/** Names of fields of a body, checked against the API's document: `fieldsOf<Schemas['GroupInput']>('name')`. */
export const fieldsOf = <T extends object>(...names: Path<T>[]): string[] => names

export class Submission {
  busy = $state(false)
  problem: string | null = $state(null)
  fields: Record<string, string> = $state({})

  /** The fields the form shows; problems of other fields are shown above the form. */
  constructor(
    private readonly known: string[] = [],
    /** Reloads the data after somebody else changed it. */
    private readonly reload?: () => Promise<void>
  ) {}

  /** Submits; returns whether it succeeded. */
  async run(send: () => Promise<void>): Promise<boolean> {
    if (this.busy) return false
    this.busy = true
    this.problem = null
    this.fields = {}
    try {
      await send()
      return true
    } catch (error) {
      await this.#refused(error)
      return false
    } finally {
      this.busy = false
    }
  }

  async #refused(error: unknown): Promise<void> {
    if (isProblem(error, 'precondition-failed') && this.reload) {
      await this.reload().catch(() => undefined)
      this.problem = t('form.changedElsewhere')
    } else if (error instanceof Problem && Object.keys(error.fields).length > 0) {
      const rest: string[] = []
      for (const [name, text] of Object.entries(error.fields)) {
        const field = this.known.find((known) => name === known || name.startsWith(`${known}.`))
        if (field) this.fields[field] ??= text
        else rest.push(text)
      }
      this.problem = rest.length > 0 ? rest.join(' ') : null
    } else {
      const field = error instanceof Problem ? fieldOfCode[error.code] : undefined
      if (field && this.known.includes(field)) this.fields[field] = reason(error)
      else this.problem = reason(error)
    }
  }
}
