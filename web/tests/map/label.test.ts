// A label on the map takes two lines at most, whatever the name is made of.
import { expect, test } from 'vitest'
import { labelOf } from '$lib/map/fleet/label'

test.each([
  ['Rescue boat', 'Rescue boat'],
  ['Twenty-six characters long', 'Twenty-six characters long'],
  ['The second vessel of the northern fleet', 'The second vessel of the…'],
  // Cut between characters, not within one.
  ['🚤'.repeat(30), `${'🚤'.repeat(25)}…`]
])('%s', (name, label) => expect(labelOf(name)).toBe(label))
