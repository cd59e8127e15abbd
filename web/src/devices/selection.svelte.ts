// The filter and selection shared by the live map and the device list.
import { criticalAlerts } from '$lib/alerts/critical.svelte'
import { rankOf } from '$lib/alerts/rank'
import { byName } from '$lib/format/sort'
import { fleet, statusOf, type Status, type Tracked } from '$lib/live/fleet.svelte'

class Selection {
  search = $state('')
  group: string | null = $state(null)
  status: Status | null = $state(null)
  followed: string | null = $state(null)
  /** How far back the trail of the picked device reaches. */
  trailHours = $state(6)

  /** Whether a device is shown. */
  shows(tracked: Tracked): boolean {
    const { device } = tracked
    if (this.group && !device.groups.includes(this.group)) return false
    if (this.status && statusOf(tracked) !== this.status) return false
    const wanted = this.search.trim().toLocaleLowerCase()
    const texts = [device.name, device.identifier, device.description]
    return !wanted || texts.some((text) => text?.toLocaleLowerCase().includes(wanted))
  }

  /** The devices shown, in no order. Those with a critical alert are left out by no filter but the search. */
  filtered(): Tracked[] {
    const { byDevice } = criticalAlerts
    const isSearching = this.search.trim() !== ''
    return fleet.all().filter((tracked) => (!isSearching && byDevice.has(tracked.device.id)) || this.shows(tracked))
  }

  /** The devices shown, by name, those with a critical alert first. */
  list(): Tracked[] {
    const { byDevice } = criticalAlerts
    const rank = ({ device: { id } }: Tracked): number => rankOf(byDevice.get(id))
    return this.filtered().sort((a, b) => rank(a) - rank(b) || byName(a.device, b.device))
  }

  /** How many of each state there are, before the filter by state. */
  counts(): Record<Status, number> {
    const counts: Record<Status, number> = { online: 0, late: 0, offline: 0, never: 0, expired: 0 }
    for (const tracked of fleet.all()) counts[statusOf(tracked)]++
    return counts
  }
}

export const selection = new Selection()
