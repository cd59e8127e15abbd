// Phones as trackers: links that set up an app, and a first position from the browser of the phone.
import { root } from '$lib/api/client'

/** The apps, each with its feed. */
export const apps = [
  { app: 'traccar', feed: 'osmand', title: 'Traccar Client' },
  { app: 'owntracks', feed: 'owntracks', title: 'OwnTracks' },
  { app: 'overland', feed: 'overland', title: 'Overland' },
  { app: 'osmand', feed: 'osmand', title: 'OsmAnd' },
  { app: 'gpslogger', feed: 'gpslogger', title: 'GPSLogger' }
] as const
export type App = (typeof apps)[number]['app']

export const feedOfApp = (app: App): (typeof apps)[number]['feed'] =>
  apps.find((one) => one.app === app)?.feed ?? 'osmand'

export interface Setup {
  app: App
  /** The last part of the gateway's URL. */
  secret: string
  name: string
}

/**
 * The address of a gateway as this browser reaches the server. The API answers with the address that is configured,
 * which a new installation may have wrong.
 */
export const gatewayUrl = (feed: string, secret: string): string => new URL(`gateways/${feed}/${secret}`, root).href
export const secretIn = (url: string): string => url.split('/').at(-1) ?? ''
const urlOf = ({ app, secret }: Setup): string => gatewayUrl(feedOfApp(app), secret)

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)))

/**
 * The page that the QR code opens on the phone. Everything is behind the `#`, which browsers send to no server, so that
 * the secret does not get into logs.
 */
export function phonePage({ app, secret, name }: Setup): string {
  const page = new URL('phone', root)
  page.hash = new URLSearchParams({ app, secret, name }).toString()
  return page.href
}

/** The content of a link of `phonePage`; null if it is not complete. */
export function setupIn(hash: string): Setup | null {
  const members = new URLSearchParams(hash.replace(/^#/, ''))
  const app = apps.find((one) => one.app === members.get('app'))?.app
  const secret = members.get('secret') ?? ''
  return app && /^[\w-]{16,100}$/.test(secret) ? { app, secret, name: members.get('name') ?? '' } : null
}

/** A link that the app opens to import its settings; null if the app has none. */
export function appLink(setup: Setup): string | null {
  const { app, name } = setup
  const url = urlOf(setup)
  if (app === 'owntracks') {
    // Mode 3 is HTTP; monitoring 1 reports significant moves.
    const settings = {
      _type: 'configuration',
      mode: 3,
      url,
      auth: false,
      monitoring: 1,
      deviceId: name,
      tid: tidOf(name)
    }
    return `owntracks:///config?inline=${encodeURIComponent(base64(JSON.stringify(settings)))}`
  }
  if (app === 'overland') {
    return `overland://setup?url=${encodeURIComponent(url)}&device_id=${encodeURIComponent(name)}`
  }
  return null
}

/** The two letters that OwnTracks shows for a phone. */
const tidOf = (name: string): string => (name.replace(/[^a-z0-9]/gi, '').slice(0, 2) || 'me').toLowerCase()

/**
 * The values to enter into the app by hand. OsmAnd and GPSLogger fill in the values in braces or after a percent
 * sign.
 */
export function typedIn(setup: Setup): string {
  const { app, name } = setup
  const url = urlOf(setup)
  const id = encodeURIComponent(name)
  if (app === 'osmand') {
    return `${url}?id=${id}&lat={0}&lon={1}&timestamp={2}&hdop={3}&altitude={4}&speed={5}&bearing={6}`
  }
  if (app === 'gpslogger') {
    return `${url}?lat=%LAT&lon=%LON&time=%TIME&spd=%SPD&acc=%ACC&alt=%ALT&batt=%BATT&id=${id}`
  }
  return url
}

export interface Fix {
  latitude: number
  longitude: number
  /** Metres. */
  accuracy: number
  /** Milliseconds. */
  time: number
}

/** The request with which an app reports a position. */
export function requestOf(setup: Setup, fix: Fix): { url: string; init: RequestInit } {
  const { app, name } = setup
  const url = urlOf(setup)
  const { latitude: lat, longitude: lon, accuracy } = fix
  const seconds = Math.floor(fix.time / 1000)
  const post = (body: unknown): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    credentials: 'omit'
  })
  if (app === 'owntracks') {
    return {
      url,
      init: post({ _type: 'location', lat, lon, acc: Math.round(accuracy), tst: seconds, tid: tidOf(name) })
    }
  }
  if (app === 'overland') {
    const properties = {
      timestamp: new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'),
      horizontal_accuracy: Math.round(accuracy),
      device_id: name
    }
    const geometry = { type: 'Point', coordinates: [lon, lat] }
    return { url, init: post({ locations: [{ type: 'Feature', geometry, properties }] }) }
  }
  const query =
    app === 'gpslogger'
      ? { lat, lon, time: new Date(seconds * 1000).toISOString(), acc: accuracy, id: name }
      : { id: name, lat, lon, timestamp: seconds, accuracy }
  const text = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]))
  return { url: `${url}?${text}`, init: { method: 'POST', credentials: 'omit' } }
}
