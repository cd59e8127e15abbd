// The models of trackers that the service knows, and the settings for decoding that a device can have.
import type { Schemas } from '$lib/api/client'

export type TrackerModel = Schemas['TrackerModel']
export type DecodingOption = Schemas['DecodingOption']

/** The model with this name, with or without its maker. */
export function findModel(models: TrackerModel[], text: string): TrackerModel | undefined {
  const wanted = text.trim().toLowerCase()
  return models.find(
    ({ maker, model }) => wanted === model.toLowerCase() || wanted === `${maker} ${model}`.toLowerCase()
  )
}

/**
 * The options of the protocol of a device, by its model or else by its last message; all options while neither is
 * known.
 */
export function optionsFor(options: DecodingOption[], protocol: string | null | undefined): DecodingOption[] {
  return options.filter(({ protocols }) => !protocol || protocols.includes(protocol))
}

/** A time zone such as `UTC+05:30`. */
export function zoneName(minutes: number): string {
  const pad = (number: number): string => String(Math.trunc(number)).padStart(2, '0')
  const ahead = Math.abs(minutes)
  return `UTC${minutes < 0 ? '−' : '+'}${pad(ahead / 60)}:${pad(ahead % 60)}`
}

/** Every half hour, and the current value. */
export function zoneChoices(set: number | undefined): number[] {
  const halves = Array.from({ length: 57 }, (_, index) => (index - 28) * 30)
  return set === undefined || halves.includes(set) ? halves : [...halves, set].sort((a, b) => a - b)
}
