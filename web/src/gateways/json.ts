// Settings that people write as JSON.
import { t } from '$lib/i18n/index.svelte'

export interface Parsed {
  value: Record<string, unknown> | null
  error: string | undefined
}

/** The JSON object in a text; an empty text is neither an object nor an error. */
export function parsedObject(text: string): Parsed {
  if (text.trim() === '') return { value: null, error: undefined }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { value: value as Record<string, unknown>, error: undefined }
    }
    return { value: null, error: t('sources.notObject') }
  } catch (error) {
    return { value: null, error: t('sources.notJson', { why: error instanceof Error ? error.message : '' }) }
  }
}
