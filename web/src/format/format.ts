// Formats numbers, distances and times according to the user's preferences.
import { decimalDegrees, degreesMinutes } from './coordinates'
import { t } from '$lib/i18n/index.svelte'
import { locale, preferences, type UnitSystem } from '$lib/access/preferences.svelte'

const kilometresPer: Record<UnitSystem, number> = { metric: 1, imperial: 1.609344, nautical: 1.852 }
const speedUnit: Record<UnitSystem, string> = { metric: 'km/h', imperial: 'mph', nautical: 'kn' }
const distanceUnit: Record<UnitSystem, string> = { metric: 'km', imperial: 'mi', nautical: 'nmi' }
const feetPerMetre = 3.28084

export function number(value: number, digits = 0): string {
  return value.toLocaleString(locale(), { maximumFractionDigits: digits })
}

export const unitOfSpeed = (): string => speedUnit[preferences.units]

/** A speed in km/h converted to the user's unit, without the unit, for charts and fields. */
export const speedIn = (kmh: number): number => kmh / kilometresPer[preferences.units]

/** Converts a speed from the user's unit to km/h. */
export const speedFrom = (value: number): number => value * kilometresPer[preferences.units]

export function speed(kmh: number): string {
  const value = speedIn(kmh)
  return `${number(value, value < 10 ? 1 : 0)} ${unitOfSpeed()}`
}

export function distance(metres: number): string {
  const units = preferences.units
  if (units === 'metric' && metres < 1000) return `${number(metres)} m`
  const value = metres / 1000 / kilometresPer[units]
  return `${number(value, value < 10 ? 2 : value < 100 ? 1 : 0)} ${distanceUnit[units]}`
}

export const unitOfDistance = (): string => distanceUnit[preferences.units]
/** Kilometres converted to the user's unit, without the unit. */
export const distanceIn = (kilometres: number): number => kilometres / kilometresPer[preferences.units]

export const unitOfHeight = (): string => (preferences.units === 'imperial' ? 'ft' : 'm')
export const heightIn = (metres: number): number => (preferences.units === 'imperial' ? metres * feetPerMetre : metres)
export const height = (metres: number): string => `${number(heightIn(metres))} ${unitOfHeight()}`

export function temperature(celsius: number): string {
  if (preferences.units === 'imperial') return `${number((celsius * 9) / 5 + 32, 1)} °F`
  return `${number(celsius, 1)} °C`
}

export const percent = (value: number): string => `${number(value)} %`

/** Coordinates in the notation that the user prefers. */
export function coordinates(latitude: number, longitude: number): string {
  return (preferences.coordinates === 'minutes' ? degreesMinutes : decimalDegrees)(latitude, longitude)
}

const points = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'] as const
export function course(degrees: number): string {
  const point = points[Math.round(degrees / 45) % 8] ?? 'N'
  return `${number(degrees)}° ${t(`common.compass.${point}`)}`
}

const zone = (): string | undefined => preferences.timeZone ?? undefined

/** The clock format that the user prefers, for `Intl`; undefined for that of the locale. */
export function hourCycle(): 'h23' | 'h12' | undefined {
  if (preferences.clock === '24') return 'h23'
  return preferences.clock === '12' ? 'h12' : undefined
}

/** Date and time with the time zone, because an e-mail about the same alert may show another zone. */
export function dateTime(instant: string | number | Date): string {
  return new Date(instant).toLocaleString(locale(), {
    dateStyle: 'medium',
    // With the time zone.
    timeStyle: 'long',
    hourCycle: hourCycle(),
    timeZone: zone()
  })
}

export function date(instant: string | number | Date): string {
  return new Date(instant).toLocaleDateString(locale(), { dateStyle: 'medium', timeZone: zone() })
}

export function time(instant: string | number | Date): string {
  const how = { timeStyle: 'short', hourCycle: hourCycle(), timeZone: zone() } as const
  return new Date(instant).toLocaleTimeString(locale(), how)
}

/** The current abbreviation of the time zone in which times are shown, such as "CET". */
export function zoneName(instant: string | number | Date = Date.now()): string {
  const parts = new Intl.DateTimeFormat(locale(), { timeZoneName: 'short', timeZone: zone() }).formatToParts(
    new Date(instant)
  )
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/** A duration in its two largest units. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const parts: [number, string][] = [
    [Math.floor(whole / 86400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's']
  ]
  const first = parts.findIndex(([amount]) => amount > 0)
  if (first < 0) return `0 s`
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ')
}

/** The age of an instant, in short: "3 min". */
export function age(instant: string | number, now = Date.now()): string {
  const seconds = (now - new Date(instant).getTime()) / 1000
  if (seconds < 5) return t('common.now')
  if (seconds < 60) return `${Math.floor(seconds)} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86400)} d`
}

/** The name of a country in the user's language. */
export function country(code: string): string {
  return new Intl.DisplayNames(locale(), { type: 'region' }).of(code) ?? code
}
