// The current page, from the URL: plain paths under the server's root, so that links can be bookmarked and shared.
import { root } from './api/client'

export interface Route {
  name: string
  params: Record<string, string>
}

interface Page {
  name: string
  pattern: RegExp
}

/** A path such as `/devices/:id`, with the name of its page. */
const page = (name: string, path: string): Page => ({
  name,
  pattern: new RegExp(`^${path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}/?$`)
})

const pages: Page[] = [
  page('map', '/'),
  page('devices', '/devices'),
  page('map', '/devices/:id'),
  page('history', '/history'),
  page('history', '/history/:id'),
  page('reports', '/reports'),
  page('reports', '/reports/:id'),
  page('maintenance', '/maintenance'),
  page('maintenance', '/maintenance/:id'),
  page('plans', '/plans'),
  page('plans', '/plans/:id'),
  page('plans', '/plans/:id/:part'),
  page('alerts', '/alerts'),
  page('alerts', '/alerts/:id'),
  page('geofences', '/geofences'),
  page('geofences', '/geofences/:id'),
  // Paths of earlier versions.
  page('geofences', '/places'),
  page('geofences', '/places/:id'),
  page('rules', '/rules'),
  page('rules', '/rules/:id'),
  page('groups', '/groups'),
  page('groups', '/groups/:id'),
  page('drivers', '/drivers'),
  page('drivers', '/drivers/:id'),
  page('users', '/users'),
  page('users', '/users/:id'),
  page('notifications', '/notifications'),
  page('notifications', '/messages'),
  page('sources', '/sources'),
  page('sources', '/sources/:tab'),
  page('sources', '/sources/:tab/:id'),
  page('account', '/account'),
  page('developer', '/developer'),
  page('developer', '/developer/:tab'),
  page('operator', '/operator'),
  page('settings', '/settings'),
  page('welcome', '/welcome'),
  page('shared', '/shared/:secret'),
  page('phone', '/phone'),
  page('signin', '/signin')
]

function routeOf(pathname: string): Route {
  const path = `/${pathname.slice(root.pathname.length)}`
  for (const { name, pattern } of pages) {
    const found = pattern.exec(path)
    if (found) {
      const params = Object.entries(found.groups ?? {}).map(([key, value]) => [key, decodeURIComponent(value)])
      return { name, params: Object.fromEntries(params) as Record<string, string> }
    }
  }
  return { name: 'missing', params: {} }
}

export const route: Route & { query: URLSearchParams } = $state({
  ...routeOf(location.pathname),
  query: new URLSearchParams(location.search)
})

function read(): void {
  Object.assign(route, routeOf(location.pathname), { query: new URLSearchParams(location.search) })
}

/** The full URL of a page: `link('/alerts')`. */
export const link = (path: string): string => new URL(path.replace(/^\//, ''), root).pathname + queryOf(path)

const queryOf = (path: string): string => (path.includes('?') ? path.slice(path.indexOf('?')) : '')

/** Opens a page; `replace` adds no entry to the browser history. */
export function go(path: string, how: { replace?: boolean } = {}): void {
  const target = link(path)
  if (how.replace) history.replaceState(null, '', target)
  else history.pushState(null, '', target)
  read()
}

addEventListener('popstate', read)

/** Ordinary clicks on links of the console change the page without a reload. */
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
  const anchor = (event.target as Element).closest?.('a')
  if (!anchor || anchor.target || anchor.hasAttribute('download') || anchor.origin !== root.origin) return
  const inside = anchor.pathname.startsWith(root.pathname)
  if (!inside || anchor.pathname.startsWith(`${root.pathname}api/`) || anchor.dataset.load !== undefined) return
  event.preventDefault()
  history.pushState(null, '', anchor.href)
  read()
})
