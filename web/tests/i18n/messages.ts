// The messages of a language, read from its files.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** All messages of a language by their keys, such as `device.days_one`. */
export function messagesOf(language: string): Map<string, string> {
  const folder = join('src/i18n', language)
  const areas = readdirSync(folder).filter((file) => file.endsWith('.json'))
  return new Map(
    areas.flatMap((file) => {
      const texts = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, string>
      return Object.entries(texts).map(([key, text]): [string, string] => [`${file.replace('.json', '')}.${key}`, text])
    })
  )
}
