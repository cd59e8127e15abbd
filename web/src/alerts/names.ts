// The names of alerts in the user's language, as in e-mails and SMS.
import type { Schemas } from '$lib/api/client'
import { t, tIfKnown } from '$lib/i18n/index.svelte'

export type Severity = Schemas['Severity']
export type Alert = Schemas['Alert']

const sensor = /^Sensor(\d+)(On|Off|Time)$/

/** The name of an alert in the user's language; a custom name as it is. */
export function alertTitle(name: string): string {
  const known = tIfKnown(`alerts.name.${name}`)
  if (known) return known
  const [, number, what] = sensor.exec(name) ?? []
  return number && what ? t(`alerts.sensor${what as 'On' | 'Off' | 'Time'}`, { number }) : name
}

/** The tint of each severity. */
export const severityTint: Record<Severity, string> = {
  info: 'tint-accent',
  warning: 'tint-warn',
  critical: 'tint-bad'
}

export const severityWord = (severity: Severity): string => t(`alerts.severity.${severity}`)

/** The built-in alert names, ordered by their titles. */
export function knownAlerts(): { name: string; title: string }[] {
  return builtIn.map((name) => ({ name, title: alertTitle(name) })).sort((a, b) => a.title.localeCompare(b.title))
}

const builtIn = [
  'SOSButton',
  'SpeedLimit',
  'SpeedLower',
  'ForbiddenArea',
  'AllowedArea',
  'CheckArea',
  'CheckPoint',
  'Route',
  'NoMovementTime',
  'IdleTime',
  'TripDistance',
  'TripTime',
  'TripOutsideHours',
  'TripPurpose',
  'TripNoDriver',
  'DrivingTime',
  'NoTrip',
  'Offline',
  'LowBattery',
  'BatteryVoltage',
  'GPSOff',
  'GPSNoSignal',
  'GPSUnplugged',
  'IgnitionOn',
  'IgnitionOff',
  ...[1, 2, 3, 4].flatMap((number) => [
    `Sensor${number}On`,
    `Sensor${number}Off`,
    `Sensor${number}Time`,
    `SensorAccumulated${number}Time`
  ]),
  'TemperatureGreaterThan',
  'TemperatureLowerThan',
  'Temperature2GreaterThan',
  'Temperature2LessThan',
  'FuelJumpDown',
  'FuelJumpUp',
  'FuelLessThan',
  'FuelJumpDown2',
  'FuelJumpUp2',
  'FuelLessThan2',
  'FutureDate',
  'PastDate',
  'ExpiredDate',
  'Mileage',
  'MaintenanceSoon',
  'MaintenanceDue',
  'CheckInDue',
  'CheckInMissed',
  'PlanOverdue',
  'CheckInReceived',
  'Vibration',
  'RPM',
  'SleepMode',
  'AttributeEquals',
  'AttributeLessThan',
  'AttributeGreaterThan',
  'HarshBraking',
  'HarshAcceleration',
  'AuthenticationFailed'
]
