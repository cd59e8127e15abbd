// Reloads data that has no events, such as rules, when the user returns to the page.

/** The shortest time between two reloads, in milliseconds. */
const atLeast = 5_000

/** Calls `load` whenever the page becomes visible or focused; returns a function that stops it. */
export function onReturn(load: () => Promise<unknown>): () => void {
  let last = Date.now()
  const look = (): void => {
    if (document.hidden || Date.now() - last < atLeast) return
    last = Date.now()
    // The old data stays visible when reloading fails.
    load().catch(() => undefined)
  }
  document.addEventListener('visibilitychange', look)
  addEventListener('focus', look)
  return () => {
    document.removeEventListener('visibilitychange', look)
    removeEventListener('focus', look)
  }
}
