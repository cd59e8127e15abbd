// The filter and selection shared by the live map and the device list.
import { criticalAlerts } from '$lib/alerts/critical.svelte'
import { rankOf } from '$lib/alerts/rank'
import { byName } from '$lib/format/sort'
import type { ListOrder } from '$lib/access/preferences.svelte'
import { fleet, statuses, statusOf, type Status, type Tracked } from '$lib/live/fleet.svelte'

const heardAt = ({ device }: Tracked): number => (device.lastSeen ? Date.parse(device.lastSeen) : 0)
const statusRank = (tracked: Tracked): number => statuses.indexOf(statusOf(tracked))

const orders: Record<ListOrder, (a: Tracked, b: Tracked) => number> = {
  name: () => 0,
  heard: (a, b) => heardAt(b) - heardAt(a),
  status: (a, b) => statusRank(a) - statusRank(b)
}

class Selection {
  search = $state('')
  group: string | null = $state(null)
  status: Status | null = $state(null)
  followed: string | null = $state(null)
  /** Length of the trail of the selected device. */
  trailHours = $state(6)

  /** Whether a device is in the list. */
  shows(tracked: Tracked): boolean {
    return this.isOnMap(tracked) && this.isFound(tracked)
  }

  /** Whether a device is on the map: the search hides none there, because the others show where a found one is. */
  isOnMap(tracked: Tracked): boolean {
    if (this.group && !tracked.device.groups.includes(this.group)) return false
    return !this.status || statusOf(tracked) === this.status
  }

  /** Whether the search finds a device. */
  isFound({ device }: Tracked): boolean {
    const wanted = this.search.trim().toLocaleLowerCase()
    const texts = [device.name, device.identifier, device.description]
    return !wanted || texts.some((text) => text?.toLocaleLowerCase().includes(wanted))
  }

  /** The shown devices, unsorted. Devices with a critical alert are hidden only by the search, not by other filters. */
  filtered(): Tracked[] {
    const { byDevice } = criticalAlerts
    const isSearching = this.search.trim() !== ''
    return fleet.all().filter((tracked) => (!isSearching && byDevice.has(tracked.device.id)) || this.shows(tracked))
  }

  /** The shown devices in the order of the user, those with a critical alert first. */
  list(order: ListOrder = 'name'): Tracked[] {
    const { byDevice } = criticalAlerts
    const rank = ({ device: { id } }: Tracked): number => rankOf(byDevice.get(id))
    return this.filtered().sort((a, b) => rank(a) - rank(b) || orders[order](a, b) || byName(a.device, b.device))
  }

  /** Number of devices in each state, before the filter by state. */
  counts(): Record<Status, number> {
    const counts: Record<Status, number> = { online: 0, late: 0, offline: 0, never: 0, expired: 0 }
    for (const tracked of fleet.all()) counts[statusOf(tracked)]++
    return counts
  }
}

export const selection = new Selection()
