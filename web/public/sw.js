// The service worker: keeps the console's own files, so that it opens without a connection and can be installed. Answers of
// the API are never kept: a position from yesterday must not look like one of now.
importScripts('sw-push.js')

const prefix = 'perigee-shell-'
const index = new URL('./', self.registration.scope).href
const isAsset = (url) => url.href.startsWith(`${index}assets/`)

self.addEventListener('install', (event) => {
  event.waitUntil(
    fetch(index)
      .then(keepIndex)
      .then(() => self.skipWaiting())
  )
})
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

/** The cache of the present build, named by the entity tag of its page. */
async function newest() {
  const names = (await caches.keys()).filter((name) => name.startsWith(prefix))
  return caches.open(names[0] ?? `${prefix}none`)
}

/** Keeps the page. With another build the files of the one before are dropped. */
async function keepIndex(answer) {
  if (!answer.ok || !(answer.headers.get('content-type') ?? '').startsWith('text/html')) return
  const name = prefix + (answer.headers.get('etag') ?? 'untagged')
  const cache = await caches.open(name)
  await cache.put(index, answer)
  const others = (await caches.keys()).filter((other) => other.startsWith(prefix) && other !== name)
  await Promise.all(others.map((other) => caches.delete(other)))
}

/** The page from the server, else the kept one, which then says that the server cannot be reached. */
async function page(event) {
  try {
    const answer = await fetch(event.request)
    event.waitUntil(keepIndex(answer.clone()))
    return answer
  } catch (problem) {
    const kept = await (await newest()).match(index)
    if (kept) return kept
    throw problem
  }
}

/** A file whose name has a hash of its content never changes: the kept one is as good as any. */
async function asset(request) {
  const cache = await newest()
  const kept = await cache.match(request)
  if (kept) return kept
  const answer = await fetch(request)
  if (answer.ok) await cache.put(request, answer.clone())
  return answer
}

self.addEventListener('fetch', (event) => {
  const { request } = event
  const url = new URL(request.url)
  if (request.method !== 'GET' || url.origin !== self.location.origin) return
  const path = url.href.slice(index.length)
  if (request.mode === 'navigate') {
    if (!/^(api|gateways|pages|healthz|readyz|metrics|\.well-known)(\/|$|\?)/.test(path)) event.respondWith(page(event))
  } else if (isAsset(url) && !request.headers.has('range')) event.respondWith(asset(request))
})
