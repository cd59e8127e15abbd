// The identifiers of a device: the main one, and further ones of other links.
import type { Schemas } from '$lib/api/client'

type Device = Schemas['Device']
export type Identifier = Schemas['DeviceIdentifier']

/** The change that adds an identifier to a device: as its main identifier if it has none, else to its list. */
export function withIdentifier(
  { identifier: own, identifiers }: Pick<Device, 'identifier' | 'identifiers'>,
  identifier: string,
  link: string
): { identifier: string } | { identifiers: Identifier[] } {
  if (!own) return { identifier }
  const last = Math.max(0, ...identifiers.map(({ priority }) => priority))
  return { identifiers: [...identifiers, { identifier, link, priority: Math.min(100, last + 1) }] }
}
