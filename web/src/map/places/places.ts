// The cached places of positions, in the user's language and units.
import { api, ok } from '$lib/api/client'
import type { Language } from '$lib/access/languages'
import { preferences } from '$lib/access/preferences.svelte'
import { PlaceNames, type PlaceReader } from './placeNames.svelte'

export const placeNames = new PlaceNames(async (at, reader) => {
  const query = { at: at.join(';'), ...reader } as { at: string; language: Language; units: 'metric' }
  const { places } = await ok(api.GET('/api/places', { params: { query } }))
  return places.map(({ text }) => text)
})

/** Language and units of the reader. */
export const placeReader = (): PlaceReader => ({ language: preferences.language, units: preferences.units })
