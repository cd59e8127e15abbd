// The patch of one device in a change of many.
import type { Schemas } from '$lib/api/client'

type Device = Schemas['Device']
type Patch = Partial<Schemas['DeviceInput']>

export interface BulkChange {
  what: 'addGroup' | 'removeGroup' | 'icon' | 'model' | 'interval' | 'emailLimit'
  /** A group's id, a text, or a number; empty clears. */
  value: string | number | null | undefined
}

/** The patch for a device; null if nothing changes. */
export function changeOf({ what, value }: BulkChange, device: Pick<Device, 'groups'>): Patch | null {
  const text = String(value ?? '').trim()
  const number = text === '' ? null : Number(text)
  switch (what) {
    case 'addGroup':
      return device.groups.includes(text) ? null : { groups: [...device.groups, text].sort() }
    case 'removeGroup':
      return device.groups.includes(text) ? { groups: device.groups.filter((group) => group !== text) } : null
    case 'interval':
      return { expectedIntervalSeconds: number === null ? null : Math.max(1, Math.round(number * 60)) }
    case 'emailLimit':
      // A patch keeps the members of `limits` that it does not contain.
      return { limits: { dailyEmailLimit: number } as Schemas['LimitsInput'] }
    default:
      return { [what]: text || null }
  }
}
