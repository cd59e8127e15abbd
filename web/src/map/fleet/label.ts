// How a device is labelled on a map.

/** In characters: two lines at most. The lists and panels beside the map show names whole. */
const longest = 26

/** A name that takes two lines on the map at most. */
export function labelOf(name: string): string {
  const characters = [...name]
  if (characters.length <= longest) return name
  return `${characters
    .slice(0, longest - 1)
    .join('')
    .trimEnd()}…`
}
