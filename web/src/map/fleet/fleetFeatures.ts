// The scene as features of the map. Names are data of features and never parsed as HTML.
import type { Map as MapLibreMap } from 'maplibre-gl'
import { age, number } from '$lib/format/format'
import { statuses, type Status } from '$lib/live/fleet.svelte'
import { isOutdated } from '$lib/live/freshness'
import { worseOf, type Severity } from '$lib/live/severities'
import { addBadge, addDonut, addHeading, ringOf, surfaceOf, type Surface } from './badges'
import type { Cluster } from './clusters'
import { statusColours } from './colours'
import { colourOf, iconOf } from './deviceIcons'
import { isOnTop, type DeviceSpot, type Placed } from './fleetScene'
import { labelOf } from './label'
import { toLngLat } from '$lib/map/geometry/unitSquare'

/** A device slower than this, in km/h, is drawn without a heading. */
const crawlingKmh = 2
/** Opacity by status: devices that stopped reporting are fainter. */
const opacities: Record<Status, number> = { online: 1, late: 0.85, offline: 0.55, never: 0.45, expired: 0.45 }
/** Opacity of devices that do not match the search. */
const dimmed = 0.3
/** Sort key of dimmed devices and clusters, which lie below all others. */
const lowest = 100
/** Age in seconds from which a label shows the age of the position. */
const worthSaying = 60

const alarms: Record<'light' | 'dark', Record<Severity, string | null>> = {
  light: { critical: '#d11a10', warning: '#ffd27a', info: null },
  dark: { critical: '#c3241a', warning: '#7a5200', info: null }
}

export class FleetFeatures {
  readonly #surface: Surface
  readonly #colours: Record<Status, string>

  constructor(
    private readonly map: MapLibreMap,
    private readonly dark: boolean
  ) {
    this.#surface = surfaceOf(dark)
    this.#colours = statusColours(dark)
  }

  device({ spot, x, y }: Placed, picked: string | undefined, now: number): GeoJSON.Feature {
    const { tracked, status, severity, isDim } = spot
    const { device, location } = tracked
    const icon = iconOf(device.icon)
    const isPicked = device.id === picked
    const isAlarm = severity === 'critical'
    const colour = this.#colours[status]
    // The arrow shows the current course, so an outdated location has none.
    const isMoving =
      typeof location?.course === 'number' &&
      (location.speed ?? 0) > crawlingKmh &&
      !isOutdated(location.dateTime, device, now)
    const isOld = location !== null && (now - Date.parse(location.dateTime)) / 1000 >= worthSaying
    return {
      type: 'Feature',
      id: tracked.key,
      properties: {
        device: device.id,
        name: labelOf(device.name),
        age: isOld ? age(location.dateTime, now) : '',
        icon: addBadge(this.map, { icon, state: colour, own: colourOf(device.tags) }, this.#surface),
        drawing: icon !== null,
        opacity: isPicked || isAlarm ? 1 : isDim ? dimmed : opacities[status],
        order: isPicked ? -2 : isAlarm ? -1 : isDim ? lowest : statuses.indexOf(status),
        ...(isOnTop(spot, picked) ? { top: true } : {}),
        ...(isPicked ? { picked: true } : {}),
        ...(isAlarm ? { alarm: true } : {}),
        ...(isMoving
          ? { course: location?.course, heading: addHeading(this.map, colour, icon !== null, this.#surface) }
          : {})
      },
      geometry: { type: 'Point', coordinates: toLngLat(x, y) }
    }
  }

  cluster({ id, members, x, y }: Cluster<DeviceSpot>): GeoJSON.Feature {
    const counts = new Map<Status, number>()
    let worst: Severity | null = null
    for (const { status, severity } of members) {
      counts.set(status, (counts.get(status) ?? 0) + 1)
      worst = worseOf(worst, severity)
    }
    // Either all members of a cluster are dimmed or none.
    const isDim = members[0]?.isDim ?? false
    const ring = ringOf(statuses.map((status) => [this.#colours[status], counts.get(status) ?? 0]))
    const alarm = worst ? alarms[this.dark ? 'dark' : 'light'][worst] : null
    const isDarkMiddle = alarm ? worst === 'critical' || this.dark : this.dark
    return {
      type: 'Feature',
      properties: {
        cluster: id,
        count: members.length,
        short: members.length < 10_000 ? number(members.length) : `${number(members.length / 1000)}k`,
        icon: addDonut(this.map, ring, alarm, this.#surface),
        ink: isDarkMiddle ? '#ffffff' : '#15202b',
        opacity: isDim ? dimmed : 1,
        order: isDim ? lowest : -members.length
      },
      geometry: { type: 'Point', coordinates: toLngLat(x, y) }
    }
  }
}
