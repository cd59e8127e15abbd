// The tab's title flashes and its icon turns red while there are critical alerts to acknowledge.

const blinkMs = 1_000
const icon = (): HTMLLinkElement | null => document.querySelector('link[rel=icon]')

/** Flashes until the returned function is called; `words` returns the current title. */
export function signalInTab(words: () => string): () => void {
  const calm = { title: document.title, icon: icon()?.getAttribute('href') }
  let shown: string | null = null
  const flash = (): void => {
    // The page may have set another title since.
    if (document.title !== shown) {
      calm.title = document.title
      shown = words()
      document.title = shown
    } else {
      shown = null
      document.title = calm.title
    }
  }
  icon()?.setAttribute('href', './icon-alert.svg')
  flash()
  const timer = setInterval(flash, blinkMs)
  return () => {
    clearInterval(timer)
    if (document.title === shown) document.title = calm.title
    if (calm.icon) icon()?.setAttribute('href', calm.icon)
  }
}
