// The filter and selection shared by the live map and the device list.
import { byName } from '../sort'
import { fleet, statusOf, type Status, type Tracked } from './fleet.svelte'

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

  /** The devices shown, by name. */
  list(): Tracked[] {
    const all = fleet.all().filter((tracked) => this.shows(tracked))
    return all.sort((a, b) => byName(a.device, b.device))
  }

  /** How many of each state there are, before the filter by state. */
  counts(): Record<Status, number> {
    const counts: Record<Status, number> = { online: 0, late: 0, offline: 0, never: 0, expired: 0 }
    for (const tracked of fleet.all()) counts[statusOf(tracked)]++
    return counts
  }
}

export const selection = new Selection()
