// A rule that is being created or changed: loaded with its entity tag, and saved against it.
import { api, ok, okTagged, Problem } from '$lib/api/client'
import { preferences } from '$lib/access/preferences.svelte'
import { conditionBody, kindOf } from './conditions'
import { newRule, ruleBody, ruleForm, type Rule, type RuleForm } from './ruleForm'
import { rules } from './rules.svelte'

export class Editing {
  form: RuleForm = $state(newRule(preferences.units))
  /** The saved rule; null while it is new. */
  rule: Rule | null = $state.raw(null)
  errors: Record<string, string> = $state.raw({})
  #tag: string | null = null
  #saved = $state('')

  /** Begins a new rule, optionally with a geofence. */
  static create(geofence: string | null): Editing {
    const editing = new Editing()
    if (geofence) {
      editing.form = newRule(preferences.units, 'geofence')
      const [first] = editing.form.conditions
      if (first) first.geofences = [geofence]
    }
    return editing
  }

  static async of(id: string): Promise<Editing> {
    const editing = new Editing()
    const { data, tag } = await okTagged(api.GET('/api/rules/{ruleId}', { params: { path: { ruleId: id } } }))
    editing.#take(data, tag)
    return editing
  }

  /** Whether there is something to save. */
  get isChanged(): boolean {
    return JSON.stringify(this.body) !== this.#saved
  }

  get body() {
    return ruleBody(this.form, preferences.units)
  }

  /** The rule as entered, with all members that its description in words needs. */
  get described() {
    const { body } = this
    return {
      ...body,
      allDevices: this.form.all,
      devices: body.devices ?? [],
      groups: body.groups ?? [],
      conditions: this.form.conditions.map((condition) => conditionBody(condition, preferences.units)),
      schedule: body.schedule && { ...body.schedule, weekdays: this.form.weekdays },
      forSeconds: this.form.forSeconds,
      coolDownSeconds: this.form.coolDownSeconds,
      critical: this.form.critical,
      raises: body.alertName ?? (this.isChanged ? undefined : this.rule?.raises)
    }
  }

  /** Whether another condition can be added. */
  get takesMore(): boolean {
    const { conditions } = this.form
    return conditions.length < mostConditions && !conditions.some(({ type }) => kindOf(type).alone)
  }

  /** Saves the rule. Returns false and keeps the errors if fields are invalid; other errors are thrown. */
  async save(): Promise<boolean> {
    this.errors = {}
    const { body, rule } = this
    try {
      const { data, tag } = await okTagged(
        rule
          ? api.PUT('/api/rules/{ruleId}', {
              params: { path: { ruleId: rule.id }, header: this.#tag ? { 'If-Match': this.#tag } : {} },
              body
            })
          : api.POST('/api/rules', { body })
      )
      this.#take(data, tag)
      rules.put(data)
      return true
    } catch (error) {
      if (!this.refuse(error)) throw error
      return false
    }
  }

  /** Keeps errors of fields; returns whether there were any. */
  refuse(error: unknown): boolean {
    this.errors = error instanceof Problem ? error.fields : {}
    return Object.keys(this.errors).length > 0
  }

  async remove(): Promise<void> {
    const { rule } = this
    if (!rule) return
    await ok(api.DELETE('/api/rules/{ruleId}', { params: { path: { ruleId: rule.id } } }))
    rules.remove(rule.id)
  }

  #take(rule: Rule, tag: string | null): void {
    this.rule = rule
    this.#tag = tag
    this.form = ruleForm(rule, preferences.units)
    this.#saved = JSON.stringify(this.body)
  }
}

const mostConditions = 8
