// Converts the values of a command between a form (text by name) and the API.
import type { Schemas } from '$lib/api/client'

export type Command = Schemas['Command']
export type CommandType = Schemas['CommandType']

/** How a value is entered. */
export type Entry = 'whole' | 'text' | 'switch' | 'flag'

/** Names of values that are whole numbers. */
const whole = new Set(['frequency', 'index', 'port'])

export function entryOf(type: CommandType, name: string): Entry {
  if (name === 'enable') return 'flag'
  if (name === 'data' && type === 'outputControl') return 'switch'
  if (name === 'data' && type === 'setOdometer') return 'whole'
  return whole.has(name) ? 'whole' : 'text'
}

/** The names to show in the form. The bytes of a custom command (`hex`) can be sent only by the API. */
export const namesOf = (names: string[]): string[] => names.filter((name) => name !== 'hex')

/** The values to send; empty ones are omitted, so that the server reports required ones. */
export function valuesOf(type: CommandType, entered: Record<string, string>): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, text] of Object.entries(entered)) {
    const entry = entryOf(type, name)
    if (entry === 'flag') values[name] = text === '1'
    else if (entry === 'switch') values[name] = text === '1' ? 1 : 0
    else if (text.trim()) values[name] = entry === 'whole' ? Number(text) : text.trim()
  }
  return values
}
