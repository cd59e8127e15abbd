// All visible devices with their last locations, kept current by the stream. Plain objects outside of the framework:
// thousands of changes a second are gathered, and views are told a few times a second at most.
import { api, ok, type Schemas } from '../api/client'
import { deviceStatusValues } from '../api/schema'
import { allPages } from '../api/pages'
import { Stream, type Connection, type Event } from './stream'

export type Device = Schemas['Device']
export type Location = Schemas['Location']
export type Group = Schemas['Group']
export type Status = Schemas['DeviceStatus'] | 'expired'

export const statuses: readonly Status[] = [...deviceStatusValues, 'expired']

/** A device as it is at a moment: replaced, never changed, so that a view sees by identity what is new. */
export interface Tracked {
  /** A small number for the map, whose features are known by numbers. */
  readonly key: number
  readonly device: Device
  readonly location: Location | null
}

export interface Change {
  /** Devices that moved or changed since the last time, by id. */
  changed: Map<string, Tracked>
  removed: Map<string, Tracked>
  /** Everything was loaded anew. */
  whole: boolean
}

type Listener = (change: Change) => void
type EventListener = (event: Event) => void

export const noChange = (): Change => ({ changed: new Map(), removed: new Map(), whole: false })

/** What is shown as the state of a device. */
export function statusOf({ device }: Tracked): Status {
  return device.state === 'expired' ? 'expired' : device.status
}

/** How often lists are told that something changed. */
const viewEvery = 500

class Fleet {
  readonly devices = new Map<string, Tracked>()
  readonly groups = new Map<string, Group>()
  /** Grows whenever something changed; a view that reads it is drawn again. */
  version = $state(0)
  connection: Connection = $state('connecting')
  loaded = $state(false)

  #stream: Stream | null = null
  #keys = 0
  readonly #listeners = new Set<Listener>()
  readonly #events = new Set<EventListener>()
  #change: Change = noChange()
  #frame = 0
  #view = 0

  /** Loads everything, then goes on with what happened since. */
  async start(): Promise<void> {
    this.stop()
    // The place in the log is taken first: what happens while the rest is loaded is heard twice rather than missed.
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
    this.devices.clear()
    this.groups.clear()
    this.loaded = false
  }

  /** Tells of changes to devices, at most once a frame. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tells of every event as it comes. */
  onEvent(listener: EventListener): () => void {
    this.#events.add(listener)
    return () => this.#events.delete(listener)
  }

  /** Takes over a device as the API answered it. */
  put(device: Device): void {
    const known = this.devices.get(device.id)
    this.#replace(known ? { ...known, device } : { key: ++this.#keys, device, location: null })
  }

  remove(id: string): void {
    const known = this.devices.get(id)
    if (!known) return
    this.devices.delete(id)
    this.#change.changed.delete(id)
    this.#change.removed.set(id, known)
    this.#soon()
  }

  async #restart(): Promise<void> {
    try {
      await this.start()
    } catch {
      // Signed out, or still unreachable: whoever shows the page finds out by its next call.
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
    this.devices.clear()
    this.groups.clear()
    for (const device of devices) this.put(device)
    for (const group of groups) this.groups.set(group.id, group)
    for (const { deviceId, ...location } of last.locations) {
      const tracked = this.devices.get(deviceId)
      if (tracked) this.#place(tracked, location)
    }
    this.#change.whole = true
    this.loaded = true
    this.#soon()
  }

  #apply(event: Event): void {
    for (const listener of this.#events) listener(event)
    const { type, device: id, data } = event
    if (type === 'location.created') {
      const tracked = id ? this.devices.get(id) : undefined
      if (tracked) this.#place(tracked, data as unknown as Location)
    } else if (type === 'device.deleted') {
      if (id) this.remove(id)
    } else if (type.startsWith('device.')) {
      if ('name' in data) this.put(data as unknown as Device)
    } else if (type === 'group.deleted') {
      this.groups.delete((data as unknown as { id: string }).id)
      this.#soon()
    } else if (type.startsWith('group.')) {
      const group = data as unknown as Group
      if (group.name) this.groups.set(group.id, group)
      this.#soon()
    }
  }

  /** A newer location that can be trusted becomes the last one; the server's rule. */
  #place(tracked: Tracked, location: Location): void {
    const isNewer = !location.suspect && (!tracked.location || tracked.location.dateTime <= location.dateTime)
    const device = { ...tracked.device, lastSeen: location.receivedAt ?? location.dateTime }
    this.#replace({ ...tracked, device, location: isNewer ? location : tracked.location })
  }

  #replace(tracked: Tracked): void {
    const { id } = tracked.device
    this.devices.set(id, tracked)
    this.#change.changed.set(id, tracked)
    this.#soon()
  }

  #soon(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0
      const change = this.#change
      this.#change = noChange()
      for (const listener of this.#listeners) listener(change)
    })
    this.#view ||= window.setTimeout(() => {
      this.#view = 0
      this.version++
    }, viewEvery)
  }
}

export const fleet = new Fleet()
