// Language, units, theme and time zone of the user. Kept in the browser, so that the first page is drawn with them.
import { firstKnown, localeOf, type Language } from './languages'

export type UnitSystem = 'metric' | 'imperial' | 'nautical'
export type Theme = 'system' | 'light' | 'dark'
/** `region` stands for the clock format of the browser's region. */
export type Clock = 'region' | '24' | '12'
export type CoordinateFormat = 'decimal' | 'minutes'

export type ListOrder = 'name' | 'heard' | 'status'

export interface Preferences {
  language: Language
  units: UnitSystem
  theme: Theme
  /** An IANA identifier; null for the time zone of the browser. */
  timeZone: string | null
  clock: Clock
  coordinates: CoordinateFormat
  /** Whether the list beside the map has one line for each device. */
  compactList: boolean
  listOrder: ListOrder
}

const key = 'perigee.preferences'
function ofBrowser(): Preferences {
  return {
    language: firstKnown(navigator.languages) ?? 'en',
    units: 'metric',
    theme: 'system',
    timeZone: null,
    clock: 'region',
    coordinates: 'decimal',
    compactList: false,
    listOrder: 'name'
  }
}

function stored(): Partial<Preferences> {
  try {
    const { language, ...others } = JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Preferences>
    // A newer console may have had further languages.
    const known = firstKnown([language])
    return known ? { ...others, language: known } : others
  } catch {
    // Storage may be blocked or invalid: the browser's settings are used.
    return {}
  }
}

export const preferences: Preferences = $state({ ...ofBrowser(), ...stored() })

/** Changes some preferences, now and for later visits. */
export function setPreferences(change: Partial<Preferences>): void {
  Object.assign(preferences, change)
  try {
    localStorage.setItem(key, JSON.stringify(preferences))
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
  showTheme()
}

/**
 * The browser's variant of the language, such as `en-GB`, which has its own order of dates and its own clock format.
 */
export function locale(): string {
  const { language } = preferences
  return navigator.languages.find((tag) => tag.startsWith(`${language}-`)) ?? localeOf(language)
}

const wantsDark = matchMedia('(prefers-color-scheme: dark)')

/** Whether the page is dark at present. */
export function isDark(): boolean {
  return preferences.theme === 'dark' || (preferences.theme === 'system' && systemDark.now)
}

const systemDark = $state({ now: wantsDark.matches })

/** Applies the theme to the page. */
export function showTheme(): void {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light'
}

wantsDark.addEventListener('change', () => {
  systemDark.now = wantsDark.matches
  showTheme()
})
