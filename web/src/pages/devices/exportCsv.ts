// The table of devices as a CSV file (RFC 4180), as a spreadsheet opens it.
import type { Tracked } from '$lib/live/fleet.svelte'

const columns = [
  'name',
  'identifier',
  'description',
  'status',
  'lastSeen',
  'dateTime',
  'latitude',
  'longitude',
  'speedKmh',
  'course',
  'battery',
  'groups'
] as const

/** A text that a spreadsheet would run as a formula gets an apostrophe, which makes it text. */
const asText = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)
const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** One line for each device, after a line with the names of the columns. */
export function exportCsv(rows: Tracked[], groupsOf: (tracked: Tracked) => string): string {
  const lines = rows.map((tracked) => {
    const { device, location } = tracked
    const values: (string | number | null | undefined)[] = [
      asText(device.name),
      asText(device.identifier ?? ''),
      asText(device.description ?? ''),
      device.state === 'expired' ? 'expired' : device.status,
      device.lastSeen,
      location?.dateTime,
      location?.latitude,
      location?.longitude,
      location?.speed,
      location?.course,
      location?.battery,
      asText(groupsOf(tracked))
    ]
    return values.map((value) => quoted(String(value ?? ''))).join(',')
  })
  // Spreadsheets read UTF-8 only with this mark.
  return `\ufeff${[columns.join(','), ...lines].join('\r\n')}\r\n`
}

/** Downloads a text as a file. */
export function saveFile(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
  Object.assign(document.createElement('a'), { href: address, download: name }).click()
  URL.revokeObjectURL(address)
}
