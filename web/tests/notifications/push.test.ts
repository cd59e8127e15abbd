// What a browser can do about notifications, the forms of keys, and the service worker's handling of messages.
import { readFileSync } from 'node:fs'
import { createContext, runInContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { base64, hashOf, keyBytes, supportOf, type Facts } from '$lib/notifications/push/support'

const chrome: Facts = { secure: true, worker: true, push: true, agent: 'Chrome', touchPoints: 0, installed: false }
const iphone: Facts = { ...chrome, agent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5)', touchPoints: 5, push: false }

describe('support', () => {
  it('is ready, needs an installation, or says why not', () => {
    expect(supportOf(chrome)).toBe('ready')
    expect(supportOf({ ...chrome, secure: false })).toBe('insecure')
    expect(supportOf({ ...chrome, push: false })).toBe('unsupported')
    expect(supportOf({ ...chrome, worker: false })).toBe('unsupported')
    expect(supportOf(iphone)).toBe('install')
    expect(supportOf({ ...iphone, installed: true, push: true })).toBe('ready')
    expect(supportOf({ ...iphone, agent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X)' })).toBe('install')
    expect(supportOf({ ...chrome, agent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X)' })).toBe('ready')
  })
})

describe('keys', () => {
  it('are the same bytes in both directions', async () => {
    const text = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'
    expect(keyBytes(text)).toHaveLength(65)
    expect(base64(keyBytes(text).buffer)).toBe(text)
    expect(base64(null)).toBe('')
    expect(await hashOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})

/** The service worker with the parts of the browser that it uses. */
function worker(answer: { ok: boolean } | Error) {
  const shown: { title: string; options: Record<string, unknown> }[] = []
  const requests: { url: string; init: RequestInit }[] = []
  const opened: string[] = []
  const listeners: Record<string, (event: object) => void> = {}
  const self = {
    addEventListener: (name: string, listener: (event: object) => void) => (listeners[name] = listener),
    registration: {
      scope: 'https://track.example.com/app/',
      showNotification: (title: string, options: Record<string, unknown>) => {
        shown.push({ title, options })
        return Promise.resolve()
      }
    },
    location: new URL('https://track.example.com/app/sw.js'),
    navigator: {},
    clients: { matchAll: () => Promise.resolve([]), openWindow: (url: string) => opened.push(url) }
  }
  const fetch = (url: string, init: RequestInit) => {
    requests.push({ url, init })
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }
  const context = createContext({ self, fetch, URL, URLSearchParams, Number, Promise })
  runInContext(readFileSync(new URL('../../public/sw-push.js', import.meta.url), 'utf8'), context)
  const send = async (name: string, event: object) => {
    let work: Promise<unknown> = Promise.resolve()
    listeners[name]?.({ ...event, waitUntil: (promise: Promise<unknown>) => (work = promise) })
    await work
  }
  return { shown, requests, opened, send }
}

const acknowledge = {
  url: 'https://other.example.com/app/a/TOKEN',
  name: 'Ana',
  done: 'Acknowledged',
  failed: 'Failed'
}
const notification = {
  title: 'SOS: Tug',
  body: '12:00',
  navigate: 'https://other.example.com/app/alerts/alr_1',
  tag: 'alr_1',
  renotify: true,
  actions: [{ action: 'acknowledge', title: 'Acknowledge', navigate: acknowledge.url }],
  data: { acknowledge }
}
const message = (value: unknown) => ({ data: { json: () => value } })

describe('the service worker', () => {
  it('shows the message with its button', async () => {
    const { shown, send } = worker({ ok: true })
    await send('push', message({ web_push: 8030, notification }))
    expect(shown[0]?.title).toBe('SOS: Tug')
    expect(shown[0]?.options).toMatchObject({
      tag: 'alr_1',
      actions: [{ action: 'acknowledge', title: 'Acknowledge' }],
      data: { navigate: notification.navigate }
    })
  })

  it('shows something for a message that it cannot read', async () => {
    const { shown, send } = worker({ ok: true })
    await send('push', { data: null })
    await send('push', message({ other: 1 }))
    expect(shown.map(({ title }) => title)).toEqual(['Perigee', 'Perigee'])
  })

  it('acknowledges with one tap by the signed link, on its own origin', async () => {
    const { shown, requests, opened, send } = worker({ ok: true })
    const clicked = { title: 'SOS: Tug', tag: 'alr_1', close: () => undefined, data: { acknowledge } }
    await send('notificationclick', { notification: clicked, action: 'acknowledge' })
    expect(requests[0]?.url).toBe('https://track.example.com/app/a/TOKEN')
    expect(String(requests[0]?.init.body)).toBe('name=Ana')
    expect(requests[0]?.init).toMatchObject({ method: 'POST', credentials: 'omit' })
    expect(shown[0]?.options).toMatchObject({ body: 'Acknowledged', tag: 'alr_1' })
    expect(opened).toEqual([])
  })

  it('says that it failed, and opens the page of the link then', async () => {
    for (const answer of [{ ok: false }, new Error('offline')]) {
      const { shown, opened, send } = worker(answer)
      const clicked = { title: 'SOS: Tug', close: () => undefined, data: { acknowledge } }
      await send('notificationclick', { notification: clicked, action: 'acknowledge' })
      expect(shown[0]?.options).toMatchObject({ body: 'Failed' })
      await send('notificationclick', { notification: { ...shown[0]?.options, close: () => undefined }, action: '' })
      expect(opened).toEqual(['https://track.example.com/app/a/TOKEN'])
    }
  })

  it('opens the alert when it is tapped elsewhere', async () => {
    const { opened, send } = worker({ ok: true })
    const data = { navigate: notification.navigate }
    await send('notificationclick', { notification: { close: () => undefined, data }, action: '' })
    expect(opened).toEqual(['https://track.example.com/app/alerts/alr_1'])
  })
})
