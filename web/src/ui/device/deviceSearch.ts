// Search and sorting of devices in pickers.

import type { Tracked } from '$lib/live/fleet.svelte'
import { byName } from '$lib/format/sort'

interface Searchable {
  name: string
  identifier?: string | null
}

export const byDeviceName = (a: Tracked, b: Tracked): number => byName(a.device, b.device)

/** Whether every word of a search occurs in the name or identifier. */
export function matches({ name, identifier }: Searchable, search: string): boolean {
  const text = `${name} ${identifier ?? ''}`.toLocaleLowerCase()
  return search
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
