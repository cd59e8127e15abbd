// Labels of devices on a map.

/** Maximum length in characters: at most two lines. The lists and panels beside the map show full names. */
const mostCharacters = 26

/** A name that takes two lines on the map at most. */
export function labelOf(name: string): string {
  const characters = [...name]
  if (characters.length <= mostCharacters) return name
  return `${characters
    .slice(0, mostCharacters - 1)
    .join('')
    .trimEnd()}…`
}
