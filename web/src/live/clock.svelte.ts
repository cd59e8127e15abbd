// The current time, updated every second, for everything that shows an age.
export const clock = $state({ now: Date.now() })

setInterval(() => {
  if (!document.hidden) clock.now = Date.now()
}, 1000)
