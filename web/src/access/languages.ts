// The languages of the console. The messages of each are in a folder of its own in src/i18n.

interface Choice {
  value: string
  /** The language in itself, as lists of languages show it. */
  label: string
  /** The variant for `Intl`, where the bare tag stands for that of another country. */
  locale?: string
}

export const languages = [
  { value: 'en', label: 'English' },
  { value: 'es', label: 'Español' },
  { value: 'fr', label: 'Français' },
  { value: 'de', label: 'Deutsch' },
  { value: 'pt', label: 'Português', locale: 'pt-PT' },
  { value: 'it', label: 'Italiano' }
] as const satisfies Choice[]

export type Language = (typeof languages)[number]['value']

/** The tag by which numbers, dates, plurals and names are written in a language. */
export function localeOf(language: string): string {
  const choice: Choice | undefined = languages.find(({ value }) => value === language)
  return choice?.locale ?? language
}

/** The first of some tags, such as `pt-BR`, that is of a language of the console. */
export function firstKnown(tags: readonly (string | undefined)[]): Language | undefined {
  const spoken = tags.map((tag) => tag?.split('-')[0]?.toLowerCase())
  return spoken.map((tag) => languages.find(({ value }) => value === tag)?.value).find((value) => value !== undefined)
}
