// Map options of the user, stored in the browser.
const key = 'perigee.map'

export interface MapOptions {
  /** Whether near devices are put into clusters. */
  clusters: boolean
  /** Whether the earth is drawn as a globe, with its poles. */
  globe: boolean
}

function kept(): Partial<MapOptions> {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<MapOptions>
  } catch {
    // Storage may be blocked or invalid.
    return {}
  }
}

export const mapOptions: MapOptions = $state({ clusters: true, globe: false, ...kept() })

/** Changes some options, here and for the next visit. */
export function chooseMap(change: Partial<MapOptions>): void {
  Object.assign(mapOptions, change)
  try {
    localStorage.setItem(key, JSON.stringify(mapOptions))
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}
