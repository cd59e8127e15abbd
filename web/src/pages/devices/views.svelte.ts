// Saved views of devices: a named filter and sort order, stored in this browser.
import type { Status } from '$lib/live/fleet.svelte'

export interface View {
  name: string
  search: string
  group: string | null
  status: Status | null
  /** As in the URL: `-heard`. */
  sort: string
}

const key = 'perigee.views'
const mostViews = 50

function stored(): View[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(value) ? (value as View[]).filter((view) => typeof view?.name === 'string') : []
  } catch {
    // Storage may be blocked or invalid: there are no views then.
    return []
  }
}

class Views {
  all: View[] = $state.raw(stored())

  /** Saves a view; one of the same name is replaced. */
  save(view: View): void {
    const others = this.all.filter(({ name }) => name !== view.name)
    this.#set([...others, view].sort((a, b) => a.name.localeCompare(b.name)).slice(0, mostViews))
  }

  remove(name: string): void {
    this.#set(this.all.filter((view) => view.name !== name))
  }

  #set(views: View[]): void {
    this.all = views
    try {
      localStorage.setItem(key, JSON.stringify(views))
    } catch {
      // Without storage the views last until the page is closed.
    }
  }
}

export const views = new Views()
