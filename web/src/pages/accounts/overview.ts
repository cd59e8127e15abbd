// Form values of the report e-mail, converted from and to the API.
import type { Schemas } from '$lib/api/client'
import { overviewFrequencyValues } from '$lib/api/schema'

export const frequencies = overviewFrequencyValues
type Frequency = Schemas['OverviewFrequency']
export type OverviewReport = Schemas['OverviewReport']

export interface OverviewForm {
  frequency: Frequency
  weekday: Schemas['Weekday']
  hour: string
  /** Addresses separated by commas. */
  addresses: string
  groups: string[]
  ungrouped: boolean
}

export const overviewForm = (report: OverviewReport): OverviewForm => ({
  frequency: report.frequency,
  weekday: report.weekday,
  hour: String(report.hour),
  addresses: report.recipients.map(({ address }) => address).join(', '),
  groups: [...report.groups],
  ungrouped: report.ungrouped
})

/** A known recipient keeps language and units; a new one gets the given ones. */
export function overviewInput(
  form: OverviewForm,
  before: OverviewReport,
  begin: Pick<Schemas['OverviewRecipient'], 'units' | 'language'>
): Schemas['OverviewReportInput'] {
  const addresses = form.addresses.split(/[\s,;]+/).filter(Boolean)
  return {
    frequency: form.frequency,
    weekday: form.weekday,
    hour: Number(form.hour),
    recipients: addresses.map(
      (address) => before.recipients.find((reader) => reader.address === address) ?? { address, ...begin }
    ),
    groups: [...form.groups].sort(),
    ungrouped: form.ungrouped
  }
}
