// What this browser can do about notifications, and the forms in which it and the server name keys.

/**
 * `ready`: it can subscribe. `install`: an iPhone or iPad, where only an installed page can. `insecure`: the page was not
 * reached by https. `unsupported`: it has no Web Push.
 */
export type Support = 'ready' | 'install' | 'insecure' | 'unsupported'

/** What the support depends on; from the browser, or from a test. */
export interface Facts {
  secure: boolean
  worker: boolean
  push: boolean
  agent: string
  touchPoints: number
  installed: boolean
}

/** Whether it is an iPhone or iPad. An iPad with the desktop view calls itself a Mac, but has a touch screen. */
const isApplePhone = ({ agent, touchPoints }: Facts): boolean =>
  /iPhone|iPad|iPod/.test(agent) || (agent.includes('Macintosh') && touchPoints > 1)

export function supportOf(facts: Facts): Support {
  if (!facts.secure) return 'insecure'
  if (isApplePhone(facts) && !facts.installed) return 'install'
  return facts.worker && facts.push ? 'ready' : 'unsupported'
}

export const browserFacts = (): Facts => ({
  secure: isSecureContext,
  worker: 'serviceWorker' in navigator,
  push: 'PushManager' in globalThis && 'Notification' in globalThis,
  agent: navigator.userAgent,
  touchPoints: navigator.maxTouchPoints,
  installed: matchMedia('(display-mode: standalone)').matches
})

/** Bytes in URL-safe base64 without padding. */
export function base64(bytes: ArrayBuffer | null): string {
  const text = String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0)))
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** The bytes of a key in URL-safe base64. */
export function keyBytes(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0))
}

/** SHA-256 in hexadecimal, by which the server names an endpoint. */
export async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
