// The rules of the account, and the names that their descriptions need.
import { alertTitle } from '$lib/alerts/names'
import { api, ok } from '$lib/api/client'
import { allPages } from '$lib/api/pages'
import { duration } from '$lib/format/format'
import { t } from '$lib/i18n/index.svelte'
import { fleet } from '$lib/live/fleet.svelte'
import { locale, preferences } from '$lib/access/preferences.svelte'
import { byName } from '$lib/format/sort'
import { fences } from '$lib/map/draw/geofences.svelte'
import type { Rule } from './ruleForm'
import type { DescribeContext } from './describe'

class Rules {
  all: Rule[] = $state.raw([])
  loaded = $state(false)

  /** Loads the rules and the geofences they name. */
  async load(): Promise<void> {
    const [all] = await Promise.all([
      allPages(
        (query) => ok(api.GET('/api/rules', { params: { query } })),
        (page) => page.rules
      ),
      fences.load()
    ])
    this.all = all.sort((a, b) => byName(a, b))
    this.loaded = true
  }

  put(rule: Rule): void {
    this.all = [...this.all.filter(({ id }) => id !== rule.id), rule].sort((a, b) => byName(a, b))
  }

  remove(id: string): void {
    this.all = this.all.filter((rule) => rule.id !== id)
  }
}

export const rules = new Rules()

/** The context in which `describeRule` describes a rule to this user. */
export function describeContext(): DescribeContext {
  return {
    say: t,
    duration,
    language: locale(),
    units: preferences.units,
    nameOf: {
      device: (id) => fleet.nameOf(id) ?? t('rules.device.unknown'),
      group: (id) => fleet.groups.get(id)?.name ?? id,
      geofence: (id) => fences.get(id)?.properties.name ?? id
    },
    alert: alertTitle
  }
}
