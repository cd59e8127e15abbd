// The part of the service worker that shows notifications (Web Push). Messages have the declarative form, which some
// browsers show without this code.
const fallback = { title: 'Perigee', body: '', data: {} }

/** The notification of a message. Browsers require that one is shown, even for a message that cannot be read. */
function notificationOf(data) {
  try {
    const { notification } = data.json()
    return notification?.title ? notification : fallback
  } catch {
    return fallback
  }
}

const options = ({ body, lang, tag, renotify, timestamp, requireInteraction, actions, navigate, data }) => ({
  body,
  lang,
  timestamp,
  requireInteraction,
  // Without a tag a browser refuses "renotify".
  ...(tag ? { tag, renotify } : {}),
  actions: (actions ?? []).map(({ action, title }) => ({ action, title })),
  icon: 'icon-192.png',
  data: { ...data, navigate }
})

async function show(data) {
  const notification = notificationOf(data)
  await self.registration.showNotification(notification.title, options(notification))
  if (notification.app_badge) await self.navigator.setAppBadge?.(Number(notification.app_badge)).catch(() => undefined)
}

/** The same page on the origin of the console, which may be reached by another name than messages contain. */
const here = (url) => new URL(new URL(url, self.registration.scope).pathname, self.location.origin).href

async function open(url) {
  const target = url ? here(url) : self.registration.scope
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  for (const one of windows) {
    try {
      const shown = await one.navigate(target)
      return await (shown ?? one).focus()
    } catch {
      // A window that this worker does not control cannot be navigated.
    }
  }
  return self.clients.openWindow(target)
}

/** Acknowledges the alert by the signed link of the message, without a session, and shows what came of it. */
async function acknowledge({ title, tag, lang, data }) {
  const { url, name, done, failed } = data.acknowledge
  let isDone = false
  try {
    const body = new URLSearchParams({ name })
    isDone = (await fetch(here(url), { method: 'POST', body, credentials: 'omit', redirect: 'error' })).ok
  } catch {
    // The server cannot be reached.
  }
  const { navigate } = data
  const kept = { navigate: isDone ? navigate : url }
  await self.registration.showNotification(title, {
    body: isDone ? done : failed,
    icon: 'icon-192.png',
    lang,
    silent: isDone,
    ...(tag ? { tag } : {}),
    data: kept
  })
  if (isDone) await self.navigator.clearAppBadge?.().catch(() => undefined)
}

self.addEventListener('push', (event) => event.waitUntil(show(event.data)))
self.addEventListener('notificationclick', (event) => {
  const { notification, action } = event
  notification.close()
  const acknowledges = action === 'acknowledge' && notification.data?.acknowledge
  event.waitUntil(acknowledges ? acknowledge(notification) : open(notification.data?.navigate))
})
