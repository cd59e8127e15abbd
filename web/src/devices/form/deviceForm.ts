// Converts a device between form values and the API.
import type { Schemas } from '$lib/api/client'

type Device = Schemas['Device']
type DeviceInput = Schemas['DeviceInput']
/** The value of a number field: null if empty, undefined if it was cleared after typing. */
type Figure = number | null | undefined
/** Decoding settings by their names; absent if not set. */
export type Decoding = Record<string, boolean | number | string | Record<string, unknown>>

export interface DeviceForm {
  name: string
  identifier: string
  /** In the order of their priority. */
  identifiers: { identifier: string; link: string }[]
  description: string
  min: string
  model: string
  decoding: Decoding
  icon: string
  tags: { key: string; value: string }[]
  groups: string[]
  expires: boolean
  expirationDate: string
  dailyEmailLimit: Figure
  dailySmsLimit: Figure
  criticalReserve: Figure
  expectedIntervalMinutes: Figure
  retentionDays: Figure
}

export const emptyForm = (): DeviceForm => ({
  name: '',
  identifier: '',
  identifiers: [],
  description: '',
  min: '',
  model: '',
  decoding: {},
  icon: '',
  tags: [],
  groups: [],
  expires: false,
  expirationDate: '',
  dailyEmailLimit: null,
  dailySmsLimit: null,
  criticalReserve: null,
  expectedIntervalMinutes: null,
  retentionDays: null
})

export function formOf(device: Device): DeviceForm {
  const { limits, expectedIntervalSeconds: interval } = device
  return {
    name: device.name,
    identifier: device.identifier ?? '',
    identifiers: device.identifiers
      .toSorted((a, b) => a.priority - b.priority)
      .map(({ identifier, link }) => ({ identifier, link: link ?? '' })),
    description: device.description ?? '',
    min: device.min ?? '',
    model: device.model ?? '',
    decoding: { ...device.decoding },
    icon: device.icon ?? '',
    tags: Object.entries(device.tags).map(([key, value]) => ({ key, value })),
    groups: [...device.groups],
    expires: limits.expires,
    expirationDate: limits.expirationDate ?? '',
    dailyEmailLimit: limits.dailyEmailLimit ?? null,
    dailySmsLimit: limits.dailySmsLimit ?? null,
    criticalReserve: limits.criticalReserve || null,
    expectedIntervalMinutes: interval == null ? null : interval / 60,
    retentionDays: device.retentionDays ?? null
  }
}

const text = (value: string): string | null => value.trim() || null

export function inputOf(form: DeviceForm): DeviceInput {
  const minutes = form.expectedIntervalMinutes
  return {
    name: form.name.trim(),
    identifier: text(form.identifier),
    identifiers: form.identifiers
      .filter(({ identifier }) => identifier.trim())
      .map(({ identifier, link }, index) => ({ identifier: identifier.trim(), link: text(link), priority: index + 1 })),
    description: text(form.description),
    min: text(form.min),
    model: text(form.model),
    decoding: { ...form.decoding },
    icon: text(form.icon),
    tags: Object.fromEntries(form.tags.filter(({ key }) => key.trim()).map(({ key, value }) => [key.trim(), value])),
    groups: [...form.groups].sort(),
    limits: {
      expires: form.expires,
      expirationDate: form.expires ? form.expirationDate : null,
      dailyEmailLimit: form.dailyEmailLimit ?? null,
      dailySmsLimit: form.dailySmsLimit ?? null,
      criticalReserve: form.criticalReserve ?? 0
    },
    expectedIntervalSeconds: minutes == null ? null : Math.max(1, Math.round(minutes * 60)),
    retentionDays: form.retentionDays ?? null
  }
}

/** The device as its own input, to see what a form changed. */
export const inputOfDevice = (device: Device): DeviceInput => inputOf(formOf(device))
