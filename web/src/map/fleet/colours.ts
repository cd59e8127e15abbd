// The colours of states on the map, where style sheets do not reach.
import type { Status } from '$lib/live/fleet.svelte'

const light: Record<Status, string> = {
  online: '#14824a',
  late: '#c27500',
  offline: '#c4362c',
  never: '#6b7785',
  expired: '#6b7785'
}
const dark: Record<Status, string> = {
  online: '#45d08d',
  late: '#f4b957',
  offline: '#ff7d71',
  never: '#93a1b0',
  expired: '#93a1b0'
}

export const statusColours = (isDark: boolean): Record<Status, string> => (isDark ? dark : light)
