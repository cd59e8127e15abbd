// All devices the user may see with their last locations, kept current by the event stream.
//
// Devices are kept in a plain Map, not in a SvelteMap: at 1,000 updates a second a SvelteMap would mark every view that
// reads the list as changed with each update, and would hold a signal for each of 10,000 devices. Views read through
// `get`, `nameOf`, `all` and `size`, which all depend on one private counter that changes at most twice a second; the
// map layers read `snapshot` and follow `listen`. Groups change rarely and are in a SvelteMap.
import { SvelteMap } from 'svelte/reactivity'
import { api, ok, type Schemas } from '$lib/api/client'
import { deviceStatusValues } from '$lib/api/schema'
import { allPages } from '$lib/api/pages'
import { byName } from '$lib/format/sort'
import { Stream, type Connection, type Event } from './stream'

export type Device = Schemas['Device']
export type Location = Schemas['Location']
export type Group = Schemas['Group']
export type Status = Schemas['DeviceStatus'] | 'expired'

export const statuses: readonly Status[] = [...deviceStatusValues, 'expired']

/** An immutable snapshot of a device: replaced on every change, so that views compare by identity. */
export interface Tracked {
  /** A small number, because the features of a map source are identified by numbers. */
  readonly key: number
  readonly device: Device
  readonly location: Location | null
}

export interface Change {
  /** Devices that moved or changed since the last call, by id. */
  changed: Map<string, Tracked>
  removed: Map<string, Tracked>
  /** Everything was reloaded. */
  whole: boolean
}

type Listener = (change: Change) => void
type EventListener = (event: Event) => void

export const noChange = (): Change => ({ changed: new Map(), removed: new Map(), whole: false })

/** The status shown for a device. */
export function statusOf({ device }: Tracked): Status {
  return device.state === 'expired' ? 'expired' : device.status
}

/** Minimum time between two updates of views, in milliseconds. */
const viewEvery = 500

export interface Named {
  id: string
  name: string
}

class Fleet {
  readonly groups = new SvelteMap<string, Group>()
  readonly #devices = new Map<string, Tracked>()
  /** Changes at most every `viewEvery` milliseconds while devices change; reading it subscribes a view. */
  #version = $state(0)
  connection: Connection = $state('connecting')
  loaded = $state(false)

  #stream: Stream | null = null
  #lastKey = 0
  readonly #listeners = new Set<Listener>()
  readonly #events = new Set<EventListener>()
  #change: Change = noChange()
  #frame = 0
  #viewTimer = 0

  /** A device by its id; views that read it are updated. */
  get(id: string): Tracked | undefined {
    void this.#version
    return this.#devices.get(id)
  }

  /** The name of a device; views that read it are updated. */
  nameOf(id: string): string | undefined {
    return this.get(id)?.device.name
  }

  /** All devices in no order; views that read them are updated. */
  all(): Tracked[] {
    void this.#version
    return [...this.#devices.values()]
  }

  /** All devices by name, for lists to choose from; views that read them are updated. */
  get deviceNames(): Named[] {
    return this.all()
      .map(({ device: { id, name } }) => ({ id, name }))
      .sort(byName)
  }

  /** All groups by name, for lists to choose from. */
  get groupNames(): Named[] {
    return [...this.groups.values()].map(({ id, name }) => ({ id, name })).sort(byName)
  }

  /** The number of devices; views that read it are updated. */
  get size(): number {
    void this.#version
    return this.#devices.size
  }

  /** The devices as they are now, for code that is not a view: reading them subscribes to nothing. */
  get snapshot(): ReadonlyMap<string, Tracked> {
    return this.#devices
  }

  /** Loads everything, then follows the events since then. */
  async start(): Promise<void> {
    this.stop()
    // The cursor is read first: an event during loading is applied twice rather than missed.
    const { nextCursor } = await ok(api.GET('/api/events', { params: { query: { limit: 1 } } }))
    await this.#load()
    this.#stream = new Stream(nextCursor, {
      event: (event) => this.#apply(event),
      connection: (connection) => (this.connection = connection),
      expired: () => void this.#restart()
    })
  }

  stop(): void {
    this.#stream?.close()
    this.#stream = null
    this.#devices.clear()
    this.groups.clear()
    this.loaded = false
  }

  /** Calls back with batched changes of devices, at most once per frame. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls back with every event as it arrives. */
  onEvent(listener: EventListener): () => void {
    this.#events.add(listener)
    return () => this.#events.delete(listener)
  }

  /** Stores a device from an API response. */
  put(device: Device): void {
    const known = this.#devices.get(device.id)
    this.#set(known ? { ...known, device } : { key: ++this.#lastKey, device, location: null })
  }

  remove(id: string): void {
    const known = this.#devices.get(id)
    if (!known) return
    this.#devices.delete(id)
    this.#change.changed.delete(id)
    this.#change.removed.set(id, known)
    this.#notifySoon()
  }

  async #restart(): Promise<void> {
    try {
      await this.start()
    } catch {
      // Signed out or still unreachable: the next request of the page shows which.
      this.connection = 'lost'
    }
  }

  async #load(): Promise<void> {
    const [devices, groups, last] = await Promise.all([
      allPages(
        (query) => ok(api.GET('/api/devices', { params: { query } })),
        (page) => page.devices
      ),
      allPages(
        (query) => ok(api.GET('/api/groups', { params: { query } })),
        (page) => page.groups
      ),
      ok(api.GET('/api/locations/last'))
    ])
    this.#devices.clear()
    this.groups.clear()
    for (const device of devices) this.put(device)
    for (const group of groups) this.groups.set(group.id, group)
    for (const { deviceId, ...location } of last.locations) {
      const tracked = this.#devices.get(deviceId)
      if (tracked) this.#locate(tracked, location)
    }
    this.#change.whole = true
    // Immediately, so that no view sees `loaded` together with an empty fleet.
    this.#version++
    this.loaded = true
    this.#notifySoon()
  }

  #apply(event: Event): void {
    for (const listener of this.#events) listener(event)
    const { type, device: id, data } = event
    if (type === 'location.created') {
      const tracked = id ? this.#devices.get(id) : undefined
      if (tracked) this.#locate(tracked, data as unknown as Location)
    } else if (type === 'device.deleted') {
      if (id) this.remove(id)
    } else if (type.startsWith('device.')) {
      if ('name' in data) this.put(data as unknown as Device)
    } else if (type === 'group.deleted') {
      this.groups.delete((data as unknown as { id: string }).id)
      this.#notifySoon()
    } else if (type.startsWith('group.')) {
      const group = data as unknown as Group
      if (group.name) this.groups.set(group.id, group)
      this.#notifySoon()
    }
  }

  /** A newer location that is not suspect becomes the last one, as on the server. */
  #locate(tracked: Tracked, location: Location): void {
    const isNewer = !location.suspect && (!tracked.location || tracked.location.dateTime <= location.dateTime)
    const device = { ...tracked.device, lastSeen: location.receivedAt ?? location.dateTime }
    this.#set({ ...tracked, device, location: isNewer ? location : tracked.location })
  }

  #set(tracked: Tracked): void {
    const { id } = tracked.device
    this.#devices.set(id, tracked)
    this.#change.changed.set(id, tracked)
    this.#notifySoon()
  }

  #notifySoon(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0
      const change = this.#change
      this.#change = noChange()
      for (const listener of this.#listeners) listener(change)
    })
    this.#viewTimer ||= window.setTimeout(() => {
      this.#viewTimer = 0
      this.#version++
    }, viewEvery)
  }
}

export const fleet = new Fleet()
