// Somebody comes back to the page: what does not follow the stream may have changed meanwhile.

/** Sooner again than this there is nothing to ask. */
const atLeast = 5_000

/** Calls `load` whenever the page is looked at again; gives what ends that. */
export function onReturn(load: () => Promise<unknown>): () => void {
  let last = Date.now()
  const look = (): void => {
    if (document.hidden || Date.now() - last < atLeast) return
    last = Date.now()
    // What is shown is still of use when it cannot be loaded anew.
    load().catch(() => undefined)
  }
  document.addEventListener('visibilitychange', look)
  addEventListener('focus', look)
  return () => {
    document.removeEventListener('visibilitychange', look)
    removeEventListener('focus', look)
  }
}
