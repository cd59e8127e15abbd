// Whether a measured value is still current: if a device reports every ten minutes, its speed of an hour ago is
// outdated.

/** Assumed interval, in seconds, of a device without a set or a learned one. */
const unknownInterval = 600
/** A report may be this late, in seconds. The status of a device allows more: a whole interval. */
const slack = 120

interface Reporting {
  expectedIntervalSeconds?: number | null
  learnedIntervalSeconds?: number | null
}

/** Whether a newer value was due: this one is older than the device's reporting interval. */
export function isOutdated(dateTime: string, device: Reporting | null, now: number): boolean {
  const interval = device?.expectedIntervalSeconds ?? device?.learnedIntervalSeconds ?? unknownInterval
  return now - Date.parse(dateTime) > (interval + slack) * 1000
}
