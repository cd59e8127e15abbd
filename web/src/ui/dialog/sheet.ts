// The sheet in which a component is shown on a phone, if it is in one.
import { getContext, setContext } from 'svelte'

interface Sheet {
  /** Shows the sheet at its full height; elsewhere than on a phone this changes nothing. */
  raise: () => void
}

const key = Symbol('sheet')

/** Called by the sheet while it is created. */
export const provideSheet = (sheet: Sheet): Sheet => setContext(key, sheet)

/** Called by a component while it is created. */
export const sheetAround = (): Sheet | undefined => getContext(key)
