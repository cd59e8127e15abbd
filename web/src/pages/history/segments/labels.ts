// The form of what a user says about a segment.
import type { Schemas } from '$lib/api/client'

export const purposes = ['business', 'private'] as const

export interface LabelForm {
  name: string
  purpose: '' | (typeof purposes)[number] | 'other'
  /** The purpose in own words, if it is `other`. */
  own: string
  note: string
  driver: string
}

/** The fields of a purpose. */
export function purposeIn(purpose: string): Pick<LabelForm, 'purpose' | 'own'> {
  if (purpose === '') return { purpose: '', own: '' }
  const known = purposes.find((one) => one === purpose)
  return known ? { purpose: known, own: '' } : { purpose: 'other', own: purpose }
}

/** The labels of a form; an empty one is null. */
export function labelsOf({ name, purpose, own, note, driver }: LabelForm): Required<Schemas['SegmentPatch']> {
  const given = (text: string): string | null => text.trim() || null
  return {
    name: given(name),
    purpose: given(purpose === 'other' ? own : purpose),
    note: given(note),
    driver: given(driver)
  }
}
